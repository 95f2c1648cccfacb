import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { listen } from '../../kit/http/listen.ts';
import { until } from '../test/platform.ts';
import { type AgentOwner, agentMemory } from './agent-memory.ts';
import { Exchange } from './exchange.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** More than the system buffers for a client that reads nothing. */
const large = Buffer.alloc(24 * 1024 * 1024, 'x');
const never = 3_600_000;
const newOwner = () => ({ key: newId('key'), workspace: newId('workspace') });
const key = newOwner();

function unreadAnswers({ silenceMaxMs = never, shareBytes = large.length * 9 }) {
  const memory = agentMemory({ total: shareBytes * 9, shares: { key: shareBytes, workspace: shareBytes } });
  return { memory, unread: new UnreadAnswers({ memory, silenceMaxMs, refusals: { write: () => undefined } }) };
}

let server: Server;
let port: number;
let clients: Socket[];

beforeEach(async () => {
  clients = [];
  server = createServer();
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => {
  for (const client of clients) client.destroy();
  server.close();
});

/** A client that sends a request and reads nothing yet, and the request as received. */
async function ask({ unread }: { readonly unread: UnreadAnswers }, owner: AgentOwner = key) {
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  clients.push(client);
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [request, response] = await once(server, 'request');
  const exchange = new Exchange(request, response, { id: 'x', cors: [], unread, challenge: () => 'Bearer' });
  exchange.owner = owner;
  const socket: Socket = request.socket;
  const read = async () => {
    let bytes = 0;
    client.on('data', (chunk) => {
      bytes += chunk.length;
    });
    client.resume();
    await until(() => bytes > large.length);
  };
  return { exchange, socket, read };
}

test('a client that reads nothing of its answer is disconnected', async () => {
  const { exchange, socket } = await ask(unreadAnswers({ silenceMaxMs: 50 }));
  exchange.json(200, large);
  await once(socket, 'close');
});

test('a client that reads nothing of a stream is disconnected when the stream has ended', async () => {
  const { exchange, socket } = await ask(unreadAnswers({ silenceMaxMs: 50 }));
  exchange.stream().finish(large);
  await once(socket, 'close');
});

test('if too many answers of a key wait, the oldest one is ended', async () => {
  const all = unreadAnswers({ shareBytes: large.length * 1.5 });
  const first = await ask(all);
  first.exchange.json(200, large);
  const second = await ask(all);
  second.exchange.json(200, large);
  await once(first.socket, 'close');
  await second.read();
  // Bytes that the client has read no longer count.
  const third = await ask(all);
  third.exchange.json(200, large);
  await third.read();
  expect([second.socket.destroyed, third.socket.destroyed]).toEqual([false, false]);
  await until(() => all.memory.held === 0);
});

test('unread answers of one key do not end answers of another key', async () => {
  const all = unreadAnswers({ shareBytes: large.length * 1.5 });
  const slow = await ask(all, newOwner());
  slow.exchange.json(200, large);
  for (let i = 0; i < 20; i++) (await ask(all)).exchange.json(200, large);
  await slow.read();
});

test('an answer above the share is ended, and counts no more', async () => {
  const all = unreadAnswers({ shareBytes: large.length / 4 });
  const { exchange, socket } = await ask(all);
  exchange.json(200, large);
  await until(() => socket.destroyed);
  expect(all.memory.held).toBe(0);
});

test('unread streams count from their first message', async () => {
  const all = unreadAnswers({ shareBytes: large.length / 4 });
  const opened: Socket[] = [];
  const message = 'x'.repeat(100_000);
  for (let i = 0; i < 20; i++) {
    const { exchange, socket } = await ask(all);
    opened.push(socket);
    const stream = exchange.stream();
    while (stream.notify(message));
  }
  await until(() => opened.some((socket) => socket.destroyed));
  expect(all.memory.held).toBeLessThanOrEqual(large.length / 4);
});

test('a stream whose client reads again may be silent for as long as it likes', async () => {
  const { exchange, socket, read } = await ask(unreadAnswers({}));
  const stream = exchange.stream();
  const message = 'x'.repeat(100_000);
  while (stream.notify(message));
  expect(socket.timeout).toBe(never);
  void read().catch(() => undefined);
  await until(() => socket.timeout === 0);
  expect(stream.notify(message)).toBe(true);
});
