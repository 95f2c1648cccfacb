import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen } from '../../kit/http/listen.ts';
import { createLog } from '../../kit/log.ts';
import { until } from '../test/platform.ts';
import { Exchange } from './exchange.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** More than the system holds for a client that reads nothing. */
const large = Buffer.alloc(24 * 1024 * 1024, 'x');
const never = 3_600_000;
const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('http');

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

/** A client that asks and reads nothing yet, and its request as it came. */
async function ask(unread: UnreadAnswers) {
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  clients.push(client);
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [request, response] = await once(server, 'request');
  const exchange = new Exchange(request, response, { id: 'x', cors: [], unread });
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

test('a client that reads nothing of its answer is let go', async () => {
  const { exchange, socket } = await ask(
    new UnreadAnswers(log, { silenceMaxMs: 50, waitingMaxBytes: large.length * 9 }),
  );
  exchange.json(200, large);
  await once(socket, 'close');
});

test('one that reads nothing of a stream is let go when it has ended', async () => {
  const { exchange, socket } = await ask(
    new UnreadAnswers(log, { silenceMaxMs: 50, waitingMaxBytes: large.length * 9 }),
  );
  exchange.stream().finish(large);
  await once(socket, 'close');
});

test('where too much waits for all clients together, the one that has waited longest is let go', async () => {
  const unread = new UnreadAnswers(log, { silenceMaxMs: never, waitingMaxBytes: large.length * 1.5 });
  const first = await ask(unread);
  first.exchange.json(200, large);
  const second = await ask(unread);
  second.exchange.json(200, large);
  await once(first.socket, 'close');
  await second.read();
  // What has been read does not count any more.
  const third = await ask(unread);
  third.exchange.json(200, large);
  await third.read();
  expect([second.socket.destroyed, third.socket.destroyed]).toEqual([false, false]);
});

test('a stream whose client reads again may be silent for as long as it likes', async () => {
  const { exchange, socket, read } = await ask(
    new UnreadAnswers(log, { silenceMaxMs: never, waitingMaxBytes: large.length }),
  );
  const stream = exchange.stream();
  const message = 'x'.repeat(100_000);
  while (stream.notify(message));
  expect(socket.timeout).toBe(never);
  void read().catch(() => undefined);
  await until(() => socket.timeout === 0);
  expect(stream.notify(message)).toBe(true);
});
