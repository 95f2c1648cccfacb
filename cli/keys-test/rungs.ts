import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import { type Cause, excerpt, forbidden, notMcp, refusalOf } from './causes.ts';
import { type Answer, exchange, isRecord, messageOf } from './exchange.ts';

export interface Climber {
  readonly url: URL;
  readonly key: Secret;
  session: string | null;
  status: number;
  pingMs: number;
}

export interface Outcome {
  readonly detail: string;
  readonly cause: Cause | null;
}

export interface Step {
  readonly name: string;
  /** Null where the rung does not apply. */
  readonly climb: (climber: Climber) => Promise<Outcome | null>;
}

const rungTimeoutMs = 10_000;
const protocolVersion = '2025-11-25';

/** From the name to the tools. */
export const steps: readonly Step[] = [
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
  climber.pingMs = Math.round((performance.now() - start) * 10) / 10;
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

export async function endSession(climber: Climber): Promise<void> {
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

function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
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

function passed(detail: string): Outcome {
  return { detail, cause: null };
}

export function failed(cause: Cause): Outcome {
  return { detail: cause.message, cause };
}
