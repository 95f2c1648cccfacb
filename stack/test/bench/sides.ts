import { foreignServers } from '../foreign-servers.ts';
import { freePort } from '../free-ports.ts';
import { type Caller, Connection, postBytes, type Target } from './load.ts';
import { eventually, startNode } from './processes.ts';

/** One of the things compared: an address that answers MCP, and the name that its echo tool goes by. */
export interface Side {
  readonly name: string;
  /** Opens sessions, each on a connection of its own. */
  callers(count: number): Promise<readonly Caller[]>;
  stop(): void;
}

/** Stops the sides at the end of a block. */
export function stopping(sides: readonly Side[]): Disposable {
  return {
    [Symbol.dispose]() {
      for (const side of sides) side.stop();
    },
  };
}

const said = 'a text of sixty-four letters, which is what the echo tool returns';
const protocolVersion = '2025-11-25';
const [, everything] = foreignServers.everything;

export const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What a right answer holds. */
  readonly expected: string;
}

const echo: Call = { name: 'echo', arguments: { message: said }, expected: said };
/** Of the demo. */
export const add: Call = { name: 'add', arguments: { a: 20, b: 22 }, expected: '42' };

/** A session opened by hand, and a caller in it. */
export async function openCaller(target: Target, call: Call = echo): Promise<Caller> {
  const connection = await Connection.open(target.port);
  const opened = await connection.ask(postBytes(target, initialize));
  const inSession = { ...target, headers: { ...target.headers, ...headersOfSession(target, opened.toString()) } };
  await connection.ask(postBytes(inSession, { jsonrpc: '2.0', method: 'notifications/initialized' }));
  const { expected, ...params } = call;
  const request = postBytes(inSession, { jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  return { connection, request, expected };
}

function headersOfSession({ isStateless = false }: Target, opened: string): Readonly<Record<string, string>> {
  const version = { 'mcp-protocol-version': protocolVersion };
  if (isStateless && opened.includes('"serverInfo"')) return version;
  const session = /\r\nmcp-session-id: *([^\r]+)/i.exec(opened)?.[1];
  if (session === undefined) throw new Error(`No session was opened: ${opened.slice(0, 300)}`);
  return { ...version, 'mcp-session-id': session };
}

/** server-everything's own HTTP transport, with nothing in between. */
export async function startDirect(): Promise<Side> {
  const port = await freePort();
  const child = startNode([everything, 'streamableHttp'], { PORT: String(port) });
  return await sideOf('direct', { port, path: '/mcp', headers: {} }, () => child.kill('SIGKILL'));
}

/** The side is ready once a session was opened on it. */
export async function sideOf(name: string, target: Target, stop: () => void): Promise<Side> {
  (await eventually(name, () => openCaller(target))).connection.close();
  return { name, callers: (count) => openCallers([target], count), stop };
}

/** The platform at its addresses. Callers take them in turn. */
export function platformSide(urls: readonly URL[], key: string, { name = 'svc', call = echo } = {}): Side {
  const targets = urls.map((url) => targetOf(url, key));
  return { name, callers: (count) => openCallers(targets, count, call), stop: () => undefined };
}

export function targetOf({ port, pathname, search }: URL, key: string): Target {
  return { port: Number(port), path: `${pathname}${search}`, headers: { authorization: `Bearer ${key}` } };
}

async function openCallers(targets: readonly Target[], count: number, call = echo): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  for (let i = 0; i < count; i++) {
    const target = targets[i % targets.length];
    if (target !== undefined) callers.push(await openCaller(target, call));
  }
  return callers;
}

/** http → bus → stdio child without any logic: what the parts cost that cannot be left out. With NATS in two processes. */
export async function startFloor(bus: 'inproc' | 'nats' = 'inproc'): Promise<Side> {
  const port = await freePort();
  const child = startNode([new URL('./floor.ts', import.meta.url).pathname, bus, String(port), everything]);
  // It ends what it started.
  return await sideOf('floor', { port, path: '/mcp', headers: {} }, () => child.kill('SIGTERM'));
}

/** A server that answers the same bytes to everything: how fast the generator itself can be. */
export async function startMirror(): Promise<Side> {
  const port = await freePort();
  const child = startNode([new URL('./mirror.ts', import.meta.url).pathname, String(port), said]);
  return await sideOf('mirror', { port, path: '/mcp', headers: {} }, () => child.kill('SIGKILL'));
}
