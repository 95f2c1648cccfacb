import type { Platform } from '../platform.ts';
import type { BenchPlatform } from './bench-platform.ts';
import { allAtOnce, type Caller, Connection, type Load, median } from './load.ts';

const rounds = 5;
const warmCalls = 1000;
const calls = 10_000;
/** Some servers keep every event of a session, so that each call of a long session is slower than the one before. */
const callsOfSession = 500;

/** One of the things compared. */
export interface Side {
  readonly name: string;
  readonly target: Target;
}

/** An address that answers MCP and has the echo tool of the demo or of server-everything. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The server gives its clients no session. */
  readonly isStateless?: boolean;
}

export function targetOf(platform: Platform, key: string): Target {
  return { port: platform.ports['remote-mcp'], path: '/mcp', headers: { authorization: `Bearer ${key}` } };
}

export function sideOf({ platform, key }: BenchPlatform, name = 'svc'): Side {
  return { name, target: targetOf(platform, key) };
}

const said = 'a text of sixty-four letters, which is what the echo tool returns';
const protocolVersion = '2025-11-25';
const clientInfo = { name: 'bench', version: '1' };
/** The demo reads `text`, and server-everything `message`. */
const params = { name: 'echo', arguments: { message: said, text: said } };

/** A session opened by hand, on a connection of its own. */
export async function openCaller(target: Target): Promise<Caller> {
  const connection = await Connection.open(target.port);
  const initialize = { protocolVersion, capabilities: {}, clientInfo };
  const opened = await connection.ask(postBytes(target, { id: 1, method: 'initialize', params: initialize }));
  const inSession = { ...target, headers: { ...target.headers, ...headersOfSession(target, opened.toString()) } };
  await connection.ask(postBytes(inSession, { method: 'notifications/initialized' }));
  const request = postBytes(inSession, { id: 2, method: 'tools/call', params });
  return {
    async call() {
      const answer = await connection.ask(request);
      if (!answer.includes(said)) throw new Error(`A wrong answer: ${answer.toString().slice(0, 400)}`);
    },
    close: () => connection.close(),
  };
}

/** The bytes of a POST of one JSON-RPC message. */
function postBytes(target: Target, message: object): Buffer {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const headers = {
    host: `127.0.0.1:${target.port}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...target.headers,
    'content-length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`POST ${target.path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function headersOfSession({ isStateless = false }: Target, opened: string): Readonly<Record<string, string>> {
  const version = { 'mcp-protocol-version': protocolVersion };
  if (isStateless && opened.includes('"serverInfo"')) return version;
  const session = /\r\nmcp-session-id: *([^\r]+)/i.exec(opened)?.[1];
  if (session === undefined) throw new Error(`No session was opened: ${opened.slice(0, 300)}`);
  return { ...version, 'mcp-session-id': session };
}

export async function openCallers({ target }: Side, count: number): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  while (callers.length < count) callers.push(await openCaller(target));
  return callers;
}

/** What was measured of each side, in the order of the rounds. */
export type PerSide<Measured> = Readonly<Record<string, readonly Measured[]>>;

/** Measures the sides in turn, so that what the machine does meanwhile slows all of them. */
export async function perSide<One extends Pick<Side, 'name'>, Measured>(
  sides: readonly One[],
  measure: (side: One, round: number) => Promise<Measured>,
  roundCount = rounds,
): Promise<PerSide<Measured>> {
  const measured: Record<string, Measured[]> = Object.fromEntries(sides.map((side) => [side.name, []]));
  for (let round = 0; round < roundCount; round++) {
    for (const side of sides) measured[side.name]?.push(await measure(side, round));
  }
  return measured;
}

/** The load of so many sessions at once, each of which is replaced by a new one after some calls. */
export async function loadOf(side: Side, sessions: number): Promise<Load> {
  await loadOnce(side, sessions, warmCalls);
  const loads: Load[] = [];
  for (let left = calls; left > 0; left -= sessions * callsOfSession) {
    loads.push(await loadOnce(side, sessions, Math.min(left, sessions * callsOfSession)));
  }
  return {
    latenciesMs: Float64Array.from(loads.flatMap(({ latenciesMs }) => [...latenciesMs])),
    seconds: loads.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

async function loadOnce(side: Side, sessions: number, count: number): Promise<Load> {
  const callers = await openCallers(side, sessions);
  const load = await allAtOnce(callers, count);
  for (const caller of callers) caller.close();
  return load;
}

export async function oneSession(side: Side): Promise<number> {
  return median((await loadOf(side, 1)).latenciesMs);
}

/** The median of a side against that of another one. */
export function ratio(numbers: PerSide<number>, name: string, other: string): number {
  return median(numbers[name] ?? []) / median(numbers[other] ?? []);
}
