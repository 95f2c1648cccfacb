import { lookup } from 'node:dns/promises';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ErrorCode, SvcError } from '../../services/contracts/errors.ts';
import { parseKey } from '../../services/contracts/keys.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import { type Answer, exchange, isRecord, messageOf } from './exchange.ts';

export interface Rung {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly detail: string;
}

export interface Cause {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

export interface LadderResult {
  /** Is the key valid? It is wherever the platform answered anything but 401 and 503. */
  readonly ok: boolean;
  /** HTTP status of the answer to the key; 0 where it was never asked. */
  readonly status: number;
  readonly latencyMs: number;
  readonly rungs: readonly Rung[];
  readonly cause: Cause | null;
}

export interface LadderOptions {
  readonly url: URL;
  readonly key: Secret;
  readonly onRung?: (rung: Rung) => void;
}

const rungTimeoutMs = 10_000;
const protocolVersion = '2025-11-25';

/** Climbs from the name to the tools and stops at the first rung that breaks: that one says why the key does not work. */
export async function climb(options: LadderOptions): Promise<LadderResult> {
  const climber: Climber = { ...options, session: null, status: 0, pingMs: 0 };
  const rungs: Rung[] = [];
  let cause: Cause | null = null;
  for (const step of steps) {
    const start = performance.now();
    const outcome = await step.climb(climber).catch((error: unknown) => failed(causeOf(error, options.url)));
    if (outcome === null) continue;
    const rung = {
      name: step.name,
      ok: outcome.cause === null,
      ms: round(performance.now() - start),
      detail: outcome.detail,
    };
    rungs.push(rung);
    options.onRung?.(rung);
    cause = outcome.cause;
    if (cause !== null) break;
  }
  if (climber.session !== null) await endSession(climber);
  const answered = climber.status !== 0;
  return {
    ok: answered && climber.status !== 401 && climber.status !== 503,
    status: climber.status,
    latencyMs: climber.pingMs,
    rungs,
    cause,
  };
}

interface Climber extends LadderOptions {
  session: string | null;
  status: number;
  pingMs: number;
}

interface Outcome {
  readonly detail: string;
  readonly cause: Cause | null;
}

interface Step {
  readonly name: string;
  /** Null where the rung does not apply. */
  readonly climb: (climber: Climber) => Promise<Outcome | null>;
}

const steps: readonly Step[] = [
  { name: 'name resolution', climb: resolveName },
  { name: 'TCP', climb: openTcp },
  { name: 'TLS', climb: openTls },
  { name: '/health', climb: askHealth },
  { name: 'authentication', climb: authenticate },
  { name: 'MCP handshake', climb: shakeHands },
  { name: 'streaming', climb: openStream },
  { name: 'ping', climb: ping },
  { name: 'tools', climb: listTools },
];

async function resolveName({ url }: Climber): Promise<Outcome> {
  const { address } = await lookup(hostOf(url)).catch((error: unknown) => {
    throw new SvcError('unavailable', `The name "${url.hostname}" does not resolve.`, {
      hint: 'Check the spelling of the URL and the DNS of this machine.',
      cause: error,
    });
  });
  return passed(address);
}

async function openTcp({ url }: Climber): Promise<Outcome> {
  const port = portOf(url);
  const socket = connectTcp({ host: hostOf(url), port });
  try {
    await settled(socket, 'connect');
    return passed(`port ${port} is open`);
  } finally {
    socket.destroy();
  }
}

async function openTls({ url }: Climber): Promise<Outcome | null> {
  if (url.protocol !== 'https:') return null;
  const host = hostOf(url);
  const socket = connectTls({ host, port: portOf(url), servername: host });
  try {
    await settled(socket, 'secureConnect');
    return passed(`certificate valid until ${socket.getPeerCertificate().valid_to}`);
  } finally {
    socket.destroy();
  }
}

async function askHealth({ url }: Climber): Promise<Outcome> {
  const health = new URL('/health', url);
  const answer = await exchange(health, { method: 'GET', timeoutMs: rungTimeoutMs });
  if (answer.status === 200) return passed('200');
  return failed({
    code: 'unavailable',
    message: `${health.href} answered ${answer.status}, not 200: this is not the address of remote-mcp.`,
    hint: `Use the mcp address that "svc status" prints. It answered: ${excerpt(answer.body)}`,
  });
}

async function authenticate(climber: Climber): Promise<Outcome> {
  const start = performance.now();
  const answer = await post(climber, { jsonrpc: '2.0', id: 1, method: 'ping' });
  climber.pingMs = round(performance.now() - start);
  climber.status = answer.status;
  if (answer.status === 401) return failed(refusalOf(climber.key, answer));
  if (answer.status === 503) {
    return failed({
      code: 'unavailable',
      message: 'The key could not be checked: the platform answered 503.',
      hint: 'The backend is away. See "svc status" and "svc logs backend", then try again.',
    });
  }
  return passed(answer.status === 200 ? 'the key is valid' : `the key is valid (answered ${answer.status})`);
}

async function shakeHands(climber: Climber): Promise<Outcome> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'svc keys test', version: '1' } };
  const answer = await post(climber, { jsonrpc: '2.0', id: 2, method: 'initialize', params });
  if (answer.status === 403) return failed(forbidden(answer));
  const result = messageOf(answer)?.result;
  if (answer.status !== 200 || !isRecord(result)) return failed(notMcp(climber.url, answer));
  const session = answer.headers['mcp-session-id'];
  climber.session = typeof session === 'string' ? session : null;
  await post(climber, { jsonrpc: '2.0', method: 'notifications/initialized' });
  const server = isRecord(result.serverInfo) ? `${result.serverInfo.name} ${result.serverInfo.version}` : 'unnamed';
  return passed(`${server}, protocol ${result.protocolVersion}`);
}

async function openStream(climber: Climber): Promise<Outcome> {
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
        ? 'The event stream was opened but nothing of it arrived: something between here and the platform holds streams back.'
        : `The event stream was answered with ${answer.status}.`,
    hint: 'Turn off response buffering for /mcp in the proxy in front of the platform.',
  });
}

async function ping(climber: Climber): Promise<Outcome> {
  const answer = await post(climber, { jsonrpc: '2.0', id: 3, method: 'ping' });
  return answer.status === 200 ? passed('200') : failed(notMcp(climber.url, answer));
}

async function listTools(climber: Climber): Promise<Outcome> {
  const answer = await post(climber, { jsonrpc: '2.0', id: 4, method: 'tools/list' });
  const result = messageOf(answer)?.result;
  if (!isRecord(result) || !Array.isArray(result.tools)) return failed(notMcp(climber.url, answer));
  return passed(`${result.tools.length} tools`);
}

async function endSession(climber: Climber): Promise<void> {
  // The session would end by itself when idle: failing to end it now is nobody's trouble.
  await exchange(climber.url, { method: 'DELETE', headers: authorization(climber), timeoutMs: rungTimeoutMs }).catch(
    () => undefined,
  );
}

function post(climber: Climber, message: object): Promise<Answer> {
  return exchange(climber.url, {
    method: 'POST',
    headers: {
      ...authorization(climber),
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

/** What the text of the key itself gives away is said first; the rest only the platform knows. */
function refusalOf(key: Secret, answer: Answer): Cause {
  const parsed = parseKey(key.reveal());
  if (!parsed.ok) return { code: 'unauthenticated', ...textRefusals[parsed.refusal] };
  if (parsed.kind === 'runtime' || parsed.kind === 'system') {
    return {
      code: 'unauthenticated',
      message: `This is the key of a ${parsed.kind}, not of an agent.`,
      hint: 'Agents use keys that start with SVA_: create one with "svc keys create --name NAME".',
    };
  }
  const said = messageOf(answer)?.error;
  return {
    code: 'unauthenticated',
    message: isRecord(said) && typeof said.message === 'string' ? said.message : 'The platform does not know this key.',
    hint:
      isRecord(said) && typeof said.hint === 'string'
        ? said.hint
        : 'Create a new one with "svc keys create --name NAME".',
  };
}

const textRefusals = {
  missing: { message: 'The key is empty.', hint: 'Give it in SVC_API_KEY, by --key-file, or on stdin.' },
  retired: {
    message: 'Keys that start with WSK_ are retired and refused everywhere.',
    hint: 'Create a user key with "svc keys create --name NAME".',
  },
  unknown_prefix: {
    message: 'This is not a key of the platform: user keys start with SVA_ (older ones with USK).',
    hint: 'Copy the key again, from its first character.',
  },
  malformed: {
    message: 'The key has the wrong length or characters.',
    hint: 'Copy the whole key again, without quotes or spaces.',
  },
  checksum: {
    message: 'The key has a typo: its checksum does not match.',
    hint: 'Copy the key again; it was never valid in this form.',
  },
};

function forbidden(answer: Answer): Cause {
  const said = messageOf(answer)?.error;
  return {
    code: 'forbidden',
    message:
      isRecord(said) && typeof said.message === 'string'
        ? said.message
        : 'The key is valid, but the platform answered 403.',
    hint: 'Check skillIds and roleIds in the URL, and that the workspace is not suspended.',
  };
}

function notMcp(url: URL, answer: Answer): Cause {
  return {
    code: 'unavailable',
    message: `${url.href} did not answer as an MCP server does (status ${answer.status}).`,
    hint: `The address ends in /mcp; "svc status" prints it. It answered: ${excerpt(answer.body)}`,
  };
}

/** Connection errors of node, as a cause and a repair. */
function causeOf(error: unknown, url: URL): Cause {
  if (error instanceof SvcError)
    return { code: error.code, message: error.message, hint: error.hint ?? 'See "svc status".' };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  if (code === 'ECONNREFUSED') {
    return {
      code: 'unavailable',
      message: `Nothing listens on ${url.host}.`,
      hint: 'Start the platform with "svc up", or check the port.',
    };
  }
  if (code === 'CERT_HAS_EXPIRED') {
    return {
      code: 'unavailable',
      message: `The certificate of ${url.hostname} has expired.`,
      hint: 'Renew the certificate.',
    };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return {
      code: 'unavailable',
      message: `The certificate of ${url.hostname} is not trusted: ${text}`,
      hint: 'Set NODE_EXTRA_CA_CERTS to the file of your certificate authority, or use the name the certificate is for.',
    };
  }
  return {
    code: 'unavailable',
    message: `${url.host} could not be reached: ${text}`,
    hint: 'Check the URL and the network in between.',
  };
}

function settled(socket: import('node:net').Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(rungTimeoutMs, () =>
      reject(
        new SvcError('timeout', `No connection within ${rungTimeoutMs / 1000} s.`, { hint: 'A firewall may drop it.' }),
      ),
    );
    socket.once(event, resolve);
    socket.once('error', reject);
  });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

function excerpt(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim();
  return line === '' ? '(nothing)' : `"${line.slice(0, 120)}"`;
}

function passed(detail: string): Outcome {
  return { detail, cause: null };
}

function failed(cause: Cause): Outcome {
  return { detail: cause.message, cause };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
