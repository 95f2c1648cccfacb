import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { newKey } from '../../../services/contracts/keys.ts';
import { rpc } from '../../../services/remote-mcp/test/raw.ts';
import { runAttacker } from './attacker.ts';

/** The address of an attack, and the attacker's credentials. */
export interface Target {
  /** The address of `/mcp`, or of the backend's GraphQL. */
  readonly url: string;
  /** A valid API key of the attacker's own workspace, or a member's token. */
  readonly key: string;
  /** The session of the API key; empty for a member. */
  readonly session: string;
  /** The request that attacks repeat. */
  readonly question: unknown;
}

/** Number of answers by status; `closed` counts connections that the platform closed. */
export type Outcome = Readonly<Record<string, number>>;

export function attack(name: HttpAttack, target: Target): Promise<Outcome> {
  return runAttacker(import.meta.filename, { name, target });
}

/** Every attack ends by itself after this time. */
const attackMs = 1500;
const mebibyte = 1024 * 1024;

/** Attacks by a client that writes its own bytes. Each takes a bounded time and number of connections. */
const httpAttacks = {
  /** Bodies of 4 MiB without their last byte. */
  unfinishedBodies: (target) =>
    hold(target, 600, same(head(target, { length: 4 * mebibyte }), 'x'.repeat(4 * mebibyte - 1))),
  /** Chunks of one byte, each of which costs a server far more than a byte. */
  bodiesOfSingleBytes: (target) =>
    hold(target, 64, same(head(target, { length: 'chunked' }), '1\r\nx\r\n'.repeat(50_000))),
  /** Only the start of a body, on as many connections as possible. */
  bodiesThatStop: (target) => hold(target, 3000, same(head(target, { length: mebibyte }), '{')),
  /** Large answers of a tool, which the client does not read. */
  unreadAnswers: (target) => {
    const params = { name: 'echo', arguments: { message: 'x'.repeat(3 * mebibyte) } };
    return hold(target, 100, (id) => post(target, rpc('tools/call', params, id)), { reads: false });
  },
  /** Values of three bytes that each become an object when parsed, in calls that take long. */
  wideBodies: (target) => {
    const wide = `[${'{},'.repeat(1_300_000)}{}]`;
    const params = `{"name":"trigger-long-running-operation","arguments":{"duration":4,"steps":1,"wide":${wide}}}`;
    return hold(target, 24, (id) =>
      withHead(target, `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`),
    );
  },
  /** A million levels of nesting in one body. */
  deepBodies: (target) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping","params":'.padEnd(4 * mebibyte, '{"a":');
    return repeat(target, 4, same(withHead(target, body)));
  },
  sessions: (target) => {
    const body = rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    return repeat(target, 32, same(post({ ...target, session: '' }, body)));
  },
  streams: (target) => hold(target, 3000, same(head(target, { method: 'GET' }))),
  /** Requests in sequence on one connection, without waiting for answers. */
  pipelined: (target) => repeat(target, 64, same(post(target, rpc('ping', undefined, 1)).repeat(300)), 300),
  /** The same request four times in sequence, on many connections: far more than are answered at once. */
  pipelinedQuestions: (target) => repeat(target, 128, same(post(target, target.question).repeat(4)), 4),
  /** A costly request, on few connections. */
  costlyQuestions: (target) => repeat(target, 4, same(post(target, target.question))),
  /** As many requests as 64 clients with one key or token can send. */
  fullSpeed: (target) => repeat(target, 64, same(post(target, target.question))),
  /** Well-formed keys, each a different one. */
  unknownKeys: (target) => repeat(target, 400, () => post({ ...target, key: newKey('user').reveal() }, rpc('ping'))),
  /** A key with a typo. */
  wrongKeys: (target) => repeat(target, 64, same(post({ ...target, key: `${target.key.slice(0, -1)}!` }, rpc('ping')))),
  /** Connections that send one request without a key, and stay open. */
  idleConnections: (target) => hold(target, 6000, same('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')),
  unfinishedHeads: (target) => hold(target, 3000, same('POST /mcp HTTP/1.1\r\nhost: x\r\nx: ')),
  hugeHeads: (target) => {
    const line = `x-filling: ${'x'.repeat(64 * 1024)}\r\n`;
    return repeat(target, 32, same(`POST /mcp HTTP/1.1\r\nhost: x\r\n${line}\r\n`));
  },
} satisfies Readonly<Record<string, (target: Target) => Promise<Outcome>>>;

export type HttpAttack = keyof typeof httpAttacks;

/** The status of one request on a connection of its own. */
export async function statusOf(target: Target, body: string, withinMs: number): Promise<string | undefined> {
  const client = await Client.open(target);
  client?.socket.write(withHead(target, body));
  await client?.heard(1, AbortSignal.timeout(withinMs));
  client?.socket.destroy();
  return Object.keys(client?.answers ?? {})[0];
}

class Client {
  readonly socket: Socket;
  /** Number of answers by status. */
  readonly answers: Record<string, number> = {};
  closed = false;
  /** Emits `progress` when an answer came or the connection was closed. */
  readonly #events = new EventEmitter();
  #answered = 0;
  #tail = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
      this.#events.emit('progress');
    });
    socket.on('data', (chunk: Buffer) => {
      const text = this.#tail + chunk.toString('latin1');
      for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        this.answers[status] = (this.answers[status] ?? 0) + 1;
        this.#answered++;
      }
      // A status line may come in two parts, and must be counted once.
      this.#tail = text.slice(text.lastIndexOf('HTTP/1.1 ') + 12).slice(-12);
      this.#events.emit('progress');
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

  /** Waits for this many more answers, or until the connection is closed. */
  async heard(count: number, signal: AbortSignal): Promise<void> {
    const until = this.#answered + count;
    while (this.#answered < until && !this.closed && !signal.aborted) {
      await once(this.#events, 'progress', { signal }).catch(() => undefined);
    }
  }
}

/** Opens the connections, sends one request on each, and keeps them open until the attack ends. */
async function hold(
  target: Target,
  count: number,
  request: (index: number) => string | Buffer,
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
      client.socket.write(request(index + nth));
    }
  }
  await ending;
  return end(clients);
}

/** Sends requests on this many connections until the attack ends, each after the answer to the last. */
async function repeat(
  target: Target,
  connections: number,
  request: () => string | Buffer,
  answersEach = 1,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(attackMs);
  const clients: Client[] = [];
  const work = async () => {
    while (!signal.aborted) {
      const client = await Client.open(target);
      if (client === null) continue;
      clients.push(client);
      while (!client.closed && !signal.aborted) {
        client.socket.write(request());
        await client.heard(answersEach, signal);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return end(clients);
}

/** Counts the answers, and closes the connections. */
function end(clients: readonly Client[]): Outcome {
  const outcome: Record<string, number> = { connections: clients.length, closed: 0 };
  for (const { answers, closed, socket } of clients) {
    if (closed) outcome.closed = (outcome.closed ?? 0) + 1;
    for (const [status, count] of Object.entries(answers)) outcome[status] = (outcome[status] ?? 0) + count;
    socket.destroy();
  }
  return outcome;
}

/** Returns the same bytes each time, encoded once. */
function same(...parts: readonly string[]): () => Buffer {
  const bytes = Buffer.from(parts.join(''));
  return () => bytes;
}

function post(target: Target, message: unknown): string {
  return withHead(target, JSON.stringify(message));
}

function withHead(target: Target, body: string): string {
  return head(target, { length: Buffer.byteLength(body) }) + body;
}

function head(
  { url, key, session }: Target,
  { method = 'POST', length }: { readonly method?: string; readonly length?: number | 'chunked' },
): string {
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
  return `${lines.join('\r\n')}\r\n\r\n`;
}

// This is last, because it runs while the module is loaded.
if (import.meta.main) {
  const { name, target } = (await json(process.stdin)) as { readonly name: HttpAttack; readonly target: Target };
  process.stdout.write(JSON.stringify(await httpAttacks[name](target)));
  process.exit(0);
}
