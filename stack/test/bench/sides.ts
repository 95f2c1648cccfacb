import { freePort } from '../free-ports.ts';
import { type Caller, Connection, postBytes, type Target } from './load.ts';
import { eventually, everything, startNode } from './processes.ts';

/** One of the things compared: an address that answers MCP, and the name that its echo tool goes by. */
export interface Side {
  readonly name: string;
  /** Opens sessions, each on a connection of its own. */
  callers(count: number): Promise<readonly Caller[]>;
  stop(): void;
}

const said = 'a text of sixty-four letters, which is what the echo tool returns';
const protocolVersion = '2025-11-25';

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What a right answer holds. */
  readonly expected: string;
}

const echo: Call = { name: 'echo', arguments: { message: said }, expected: said };

/** A session opened by hand, and a caller in it. */
export async function openCaller(target: Target, call: Call = echo): Promise<Caller> {
  const connection = await Connection.open(target.port);
  const opened = await connection.ask(
    postBytes(target, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
    }),
  );
  const inSession = { ...target, headers: { ...target.headers, ...headersOfSession(target, opened.toString()) } };
  await connection.ask(postBytes(inSession, { jsonrpc: '2.0', method: 'notifications/initialized' }));
  const request = postBytes(inSession, {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: call.name, arguments: call.arguments },
  });
  return { connection, request, expected: call.expected };
}

function headersOfSession({ isStateless = false }: Target, opened: string): Readonly<Record<string, string>> {
  const version = { 'mcp-protocol-version': protocolVersion };
  if (isStateless && opened.includes('"serverInfo"')) return version;
  const session = /\r\nmcp-session-id: *([^\r]+)/i.exec(opened)?.[1];
  if (session === undefined) throw new Error(`No session was opened: ${opened.slice(0, 300)}`);
  return { ...version, 'mcp-session-id': session };
}

async function openCallers(target: Target, count: number): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  for (let i = 0; i < count; i++) callers.push(await openCaller(target));
  return callers;
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
  return { name, callers: (count) => openCallers(target, count), stop };
}

/** What is behind addresses that are already there: the platform. Callers take them in turn. */
export function platformSide(urls: readonly URL[], key: string): Side {
  const targets = urls.map(({ port, pathname, search }) => ({
    ...{ port: Number(port), path: `${pathname}${search}` },
    headers: { authorization: `Bearer ${key}` },
  }));
  const callers = async (count: number) => {
    const opened: Caller[] = [];
    for (let i = 0; i < count; i++) {
      const target = targets[i % targets.length];
      if (target !== undefined) opened.push(await openCaller(target));
    }
    return opened;
  };
  return { name: 'svc', callers, stop: () => undefined };
}

/** http → bus → stdio child without any logic: what the parts cost that cannot be left out. With NATS in two processes. */
export async function startFloor(bus: 'inproc' | 'nats' = 'inproc'): Promise<Side> {
  const port = await freePort();
  const program = bus === 'inproc' ? './floor.ts' : './floor-on-nats.ts';
  const child = startNode([new URL(program, import.meta.url).pathname, String(port), everything]);
  // It ends what it started.
  return await sideOf('floor', { port, path: '/mcp', headers: {} }, () => child.kill('SIGTERM'));
}

/** A server that answers the same bytes to everything: how fast the generator itself can be. */
export async function startMirror(): Promise<Side> {
  const port = await freePort();
  const child = startNode([new URL('./mirror.ts', import.meta.url).pathname, String(port), said]);
  return await sideOf('mirror', { port, path: '/mcp', headers: {} }, () => child.kill('SIGKILL'));
}
