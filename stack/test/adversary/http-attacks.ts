import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { newKey } from '../../../services/contracts/keys.ts';
import { rpc } from '../../../services/remote-mcp/test/raw.ts';
import { runAttacker } from './attacker.ts';

/** Where an attack goes, and what the attacker has. */
export interface Target {
  /** Address of `/mcp`, or that of the backend's GraphQL. */
  readonly url: string;
  /** A good API key of the attacker's own workspace, or the token of a member. */
  readonly key: string;
  /** Of the API key; empty for a member. */
  readonly session: string;
  /** What is asked again and again. */
  readonly question: unknown;
}

/** How often each status came; `closed` counts connections that the platform closed. */
export type Outcome = Readonly<Record<string, number>>;

export function attack(name: HttpAttack, target: Target): Promise<Outcome> {
  return runAttacker(import.meta.filename, { name, target });
}

/** Every attack ends by itself after this long. */
const attackMs = 1500;
/** On a busy machine, the first costly question may be answered only after the attack. */
const lastAnswerMs = 10_000;
const mebibyte = 1024 * 1024;

/** What a client can do that writes its own bytes. Each takes a bounded time and number of connections. */
const httpAttacks = {
  /** Bodies of 4 MiB, all but the last byte. */
  unfinishedBodies: (target) =>
    hold(target, 600, same(head(target, { length: 4 * mebibyte }), Buffer.alloc(4 * mebibyte - 1, 'x'))),
  /** One byte a chunk: each chunk costs a server far more than a byte. */
  bodiesOfSingleBytes: (target) =>
    hold(target, 64, same(head(target, { length: 'chunked' }), Buffer.from('1\r\nx\r\n'.repeat(50_000)))),
  /** Only the beginning of a body, on as many connections as can be had. */
  bodiesThatStop: (target) => hold(target, 3000, same(head(target, { length: mebibyte }), Buffer.from('{'))),
  /** Large answers of a tool, none of which is read. */
  unreadAnswers: (target) => {
    const params = { name: 'echo', arguments: { message: 'x'.repeat(3 * mebibyte) } };
    return hold(target, 100, (id) => post(target, rpc('tools/call', params, id)), { reads: false });
  },
  /** Values of three bytes, each of which is an object when it is parsed, in calls that take long. */
  wideBodies: (target) => {
    const wide = `[${'{},'.repeat(1_300_000)}{}]`;
    const params = `{"name":"trigger-long-running-operation","arguments":{"duration":4,"steps":1,"wide":${wide}}}`;
    const call = (id: number) => Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
    return hold(target, 24, (id) => withHead(target, call(id)));
  },
  /** A million levels in one body. */
  deepBodies: (target) => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":'.padEnd(4 * mebibyte, '{"a":'));
    return repeat(target, 4, () => withHead(target, body));
  },
  sessions: (target) => {
    const body = rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    return repeat(target, 32, () => post({ ...target, session: '' }, body));
  },
  streams: (target) => hold(target, 3000, same(head(target, { method: 'GET' }))),
  /** Requests behind each other on a connection, without waiting for an answer. */
  pipelined: (target) => repeat(target, 64, same(...behind(300, target, rpc('ping', undefined, 1))), 300),
  /** The same question four times behind each other, on many connections: far more than are answered at once. */
  pipelinedQuestions: (target) => repeat(target, 128, same(...behind(4, target, target.question)), 4),
  /** A question that is costly by itself, on a few connections. */
  costlyQuestions: (target) => repeat(target, 4, () => post(target, target.question)),
  /** As many requests as 64 clients with one key or token can send. */
  fullSpeed: (target) => repeat(target, 64, () => post(target, target.question)),
  /** Keys that look like keys, each another. */
  unknownKeys: (target) => repeat(target, 400, () => post({ ...target, key: newKey('user').reveal() }, rpc('ping'))),
  /** A key with a typo. */
  wrongKeys: (target) =>
    repeat(target, 64, same(...post({ ...target, key: `${target.key.slice(0, -1)}!` }, rpc('ping')))),
  /** Connections that ask once without a key, and stay. */
  idleConnections: (target) => hold(target, 6000, same(Buffer.from('GET /health HTTP/1.1\r\nhost: x\r\n\r\n'))),
  unfinishedHeads: (target) => hold(target, 3000, same(Buffer.from('POST /mcp HTTP/1.1\r\nhost: x\r\nx: '))),
  hugeHeads: (target) => {
    const line = `x-filling: ${'x'.repeat(64 * 1024)}\r\n`;
    return repeat(target, 32, same(Buffer.from(`POST /mcp HTTP/1.1\r\nhost: x\r\n${line}\r\n`)));
  },
} satisfies Readonly<Record<string, (target: Target) => Promise<Outcome>>>;

export type HttpAttack = keyof typeof httpAttacks;

/** The status of one request on a connection of its own. */
export async function statusOf(target: Target, body: Buffer, withinMs: number): Promise<string | undefined> {
  const client = await Client.open(target);
  client?.write(withHead(target, body));
  await client?.heard(1, AbortSignal.timeout(withinMs));
  client?.socket.destroy();
  return Object.keys(client?.answers ?? {})[0];
}

class Client {
  readonly socket: Socket;
  /** By status. */
  readonly answers: Record<string, number> = {};
  closed = false;
  #answered = 0;
  #tail = '';
  /** Called when an answer came, or the connection was closed. */
  #onProgress = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
      this.#onProgress();
    });
    socket.on('data', (chunk: Buffer) => {
      const text = this.#tail + chunk.toString('latin1');
      for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        this.answers[status] = (this.answers[status] ?? 0) + 1;
        this.#answered++;
      }
      // A status line may come in two parts, and must not be counted twice.
      this.#tail = text.slice(text.lastIndexOf('HTTP/1.1 ') + 12).slice(-12);
      this.#onProgress();
    });
  }

  static async open({ url }: Target): Promise<Client | null> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    return await once(socket, 'connect').then(
      () => new Client(socket),
      () => null,
    );
  }

  write(parts: readonly Buffer[]): void {
    for (const part of parts) this.socket.write(part);
  }

  /** Until so many more answers have come, or the connection was closed. */
  async heard(count: number, signal: AbortSignal): Promise<void> {
    const until = this.#answered + count;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (this.#answered >= until || this.closed || signal.aborted) resolve();
    };
    this.#onProgress = look;
    signal.addEventListener('abort', look, { once: true });
    look();
    await promise;
    signal.removeEventListener('abort', look);
  }
}

/** Opens the connections, says something on each, and keeps them open until the attack ends. */
async function hold(
  target: Target,
  count: number,
  request: (index: number) => readonly Buffer[],
  { reads = true } = {},
): Promise<Outcome> {
  const ending = pause(attackMs);
  const clients: Client[] = [];
  const atOnce = 50;
  const deadline = performance.now() + attackMs;
  for (let index = 0; index < count && performance.now() < deadline; index += atOnce) {
    const opened = await Promise.all(Array.from({ length: atOnce }, () => Client.open(target)));
    for (const [nth, client] of opened.entries()) {
      if (client === null) continue;
      clients.push(client);
      if (!reads) client.socket.pause();
      client.write(request(index + nth));
    }
  }
  await ending;
  const outcome = sum(clients);
  for (const { socket } of clients) socket.destroy();
  return outcome;
}

/**
 * Sends again and again on so many connections, each time when the last was answered, until the attack ends. The last
 * answers are waited for.
 */
async function repeat(
  target: Target,
  connections: number,
  request: () => readonly Buffer[],
  answersEach = 1,
): Promise<Outcome> {
  const end = AbortSignal.timeout(attackMs);
  const givenUp = AbortSignal.timeout(attackMs + lastAnswerMs);
  const clients: Client[] = [];
  const work = async () => {
    while (!end.aborted) {
      const client = await Client.open(target);
      if (client === null) continue;
      clients.push(client);
      while (!client.closed && !end.aborted) {
        client.write(request());
        await client.heard(answersEach, givenUp);
      }
      client.socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return sum(clients);
}

function sum(clients: readonly Client[]): Outcome {
  const outcome: Record<string, number> = { connections: clients.length, closed: 0 };
  for (const { answers, closed } of clients) {
    if (closed) outcome.closed = (outcome.closed ?? 0) + 1;
    for (const [status, count] of Object.entries(answers)) outcome[status] = (outcome[status] ?? 0) + count;
  }
  return outcome;
}

function same(...parts: readonly Buffer[]): () => readonly Buffer[] {
  return () => parts;
}

function behind(count: number, target: Target, message: unknown): readonly Buffer[] {
  return [Buffer.concat(Array.from({ length: count }, () => post(target, message)).flat())];
}

function post(target: Target, message: unknown): readonly Buffer[] {
  return [Buffer.concat(withHead(target, Buffer.from(JSON.stringify(message))))];
}

function withHead(target: Target, body: Buffer): readonly Buffer[] {
  return [head(target, { length: body.length }), body];
}

function head(
  { url, key, session }: Target,
  { method = 'POST', length }: { readonly method?: string; readonly length?: number | 'chunked' },
): Buffer {
  const { pathname, host } = new URL(url);
  const lines = [
    `${method} ${pathname} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${key}`,
    ...(session === '' ? [] : [`mcp-session-id: ${session}`]),
    'accept: application/json, text/event-stream',
    ...(length === undefined ? [] : ['content-type: application/json']),
    ...(typeof length === 'number' ? [`content-length: ${length}`] : []),
    ...(length === 'chunked' ? ['transfer-encoding: chunked'] : []),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

// Last, because it runs while the module is loaded.
if (import.meta.main) {
  const { name, target } = (await json(process.stdin)) as { readonly name: HttpAttack; readonly target: Target };
  process.stdout.write(JSON.stringify(await httpAttacks[name](target)));
  process.exit(0);
}
