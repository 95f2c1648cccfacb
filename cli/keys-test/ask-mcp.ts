import { constantTools } from '../../services/contracts/constant-tools.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { type SkillsSeen, skillsSeen, skillsSeenName } from '../../services/contracts/skills-seen.ts';
import { asksForNoKey, forbidden, notMcp, refusalOf, unchecked, wrongAddress } from './causes.ts';
import { type Answer, exchange, messageOf } from './exchange.ts';
import { type Climber, elapsedMs, failed, noted, type Outcome, passed, rungTimeoutMs, untested } from './rung.ts';

const protocolVersion = '2025-11-25';
const question = { jsonrpc: '2.0', id: 1, method: 'ping' };

/**
 * "A response that is not HTTP 401 means the key is valid" (part 4 of the specification) holds for /mcp. So the address must first refuse
 * a request without a key, and then answer as MCP does: any other answer proves nothing. An address that asks for no key does not get the key.
 */
export async function authenticate(climber: Climber): Promise<Outcome> {
  const bare = await post(climber, question, {});
  if (bare.status !== 401) return untested(asksForNoKey(climber.url, bare));
  const start = performance.now();
  const answer = await post(climber, question);
  climber.pingMs = elapsedMs(start);
  climber.status = answer.status;
  if (answer.status === 401) {
    climber.verdict = 'refused';
    return failed(refusalOf(climber.key, answer));
  }
  if (answer.status === 503) return untested(unchecked);
  if (!isOfMcp(answer)) return untested(notMcp(climber.url, answer));
  climber.verdict = 'valid';
  if (climber.isForKeys && /resource_metadata=/.test(String(bare.headers['www-authenticate'])))
    return noted(showsOauth);
  return passed(answer.status === 200 ? 'the key is valid' : `the key is valid (answered ${answer.status})`);
}

/** remote-mcp knows the address by its name. */
const showsOauth =
  'the key is valid, but this address shows OAuth as well: a proxy in front does not pass the Host header on. Clients such as Cursor then ignore the key.';

/** A JSON-RPC message, or a refusal in the platform's own form (a suspended workspace). */
function isOfMcp(answer: Answer): boolean {
  const message = messageOf(answer);
  return message !== null && (message.jsonrpc === '2.0' || isObject(message.error));
}

export async function shakeHands(climber: Climber): Promise<Outcome> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'svc keys test', version: '1' } };
  const answer = await post(climber, { jsonrpc: '2.0', id: 2, method: 'initialize', params });
  if (answer.status === 403) return failed(forbidden(answer));
  const mistake = wrongAddress(answer);
  if (mistake !== null) return failed(mistake);
  const result = messageOf(answer)?.result;
  if (answer.status !== 200 || !isObject(result)) return failed(notMcp(climber.url, answer));
  const session = answer.headers['mcp-session-id'];
  climber.session = typeof session === 'string' ? session : null;
  await post(climber, { jsonrpc: '2.0', method: 'notifications/initialized' });
  const server = isObject(result.serverInfo) ? `${result.serverInfo.name} ${result.serverInfo.version}` : 'unnamed';
  return passed(`${server}, protocol ${result.protocolVersion}`);
}

export async function openStream(climber: Climber): Promise<Outcome> {
  const answer = await exchange(climber.url, {
    method: 'GET',
    headers: { ...authorization(climber), accept: 'text/event-stream' },
    timeoutMs: rungTimeoutMs,
    headersOnly: true,
  }).catch((error: unknown) => {
    if (!(error instanceof SvcError) || error.code !== 'timeout') throw error;
    return null;
  });
  if (answer?.status === 200 && String(answer.headers['content-type']).includes('text/event-stream'))
    return passed('open');
  if (answer?.status === 405) return passed('not offered');
  return failed({
    code: 'unavailable',
    message:
      answer === null
        ? 'The event stream was opened, but no data arrived: a proxy before the platform buffers it.'
        : `The event stream was answered with ${answer.status}.`,
    hint: 'Turn off response buffering for /mcp in the proxy in front of the platform.',
  });
}

export async function ping(climber: Climber): Promise<Outcome> {
  const answer = await post(climber, { jsonrpc: '2.0', id: 3, method: 'ping' });
  return answer.status === 200 ? passed('200') : failed(notMcp(climber.url, answer));
}

export async function listTools(climber: Climber): Promise<Outcome> {
  const answer = await post(climber, { jsonrpc: '2.0', id: 4, method: 'tools/list' });
  const result = messageOf(answer)?.result;
  if (!isObject(result) || !Array.isArray(result.tools)) return failed(notMcp(climber.url, answer));
  return passed(`${result.tools.length} at the beginning of a session`);
}

/** The constant tools are not counted: an agent's tools come from the skills of the key's roles. */
export async function listSkills(climber: Climber): Promise<Outcome | null> {
  const params = { name: constantTools.listSkills, arguments: {} };
  const answer = await post(climber, { jsonrpc: '2.0', id: 5, method: 'tools/call', params });
  const result = messageOf(answer)?.result;
  if (!isObject(result)) return failed(notMcp(climber.url, answer));
  const seen = skillsSeen.safeParse(isObject(result._meta) ? result._meta[skillsSeenName] : undefined);
  if (!seen.success) return null; // A platform of another version gives no numbers, only a text.
  if (seen.data.skills === 0) return noted(textOf(result));
  return seen.data.unavailable.length === 0 ? passed(describe(seen.data)) : noted(describe(seen.data));
}

function describe({ skills, tools, names, unavailable }: SkillsSeen): string {
  const named = names.length < skills ? [...names, '…'] : names;
  const away = unavailable.length === 0 ? '' : `; not available now: ${unavailable.join(', ')}`;
  return `${counted(skills, 'skill')} (${named.join(', ')}), ${counted(tools, 'tool')}${away}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** The words of a tool's result, on one line. */
function textOf({ content }: Record<string, unknown>): string {
  const parts: unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''));
  return texts.join(' ').replace(/\s+/g, ' ').trim();
}

export async function endSession(climber: Climber): Promise<void> {
  // The session ends by itself when idle, so a failure to end it now is harmless.
  await exchange(climber.url, { method: 'DELETE', headers: authorization(climber), timeoutMs: rungTimeoutMs }).catch(
    () => undefined,
  );
}

function post(climber: Climber, message: object, proof = authorization(climber)): Promise<Answer> {
  return exchange(climber.url, {
    method: 'POST',
    headers: {
      ...proof,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
    timeoutMs: rungTimeoutMs,
  });
}

function authorization(climber: Climber): Record<string, string> {
  const session =
    climber.session === null ? {} : { 'mcp-session-id': climber.session, 'mcp-protocol-version': protocolVersion };
  return { authorization: `Bearer ${climber.key.reveal()}`, ...session };
}
