import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';
import { listen } from './listen.ts';

let server: Server;
let client: Socket;
let handled: string[];
let onRequest: (path: string, response: ServerResponse) => void;

beforeEach(async () => {
  handled = [];
  onRequest = (_path, response) => response.end();
  server = createServer(
    inTurn((request, response) => {
      const path = request.url ?? '';
      handled.push(path);
      onRequest(path, response);
    }),
  );
  const { port } = new URL(await listen(server, { host: '127.0.0.1', port: 0 }));
  client = connect(Number(port), '127.0.0.1').resume();
  client.on('error', () => undefined);
  await once(client, 'connect');
});
afterEach(() => {
  client.destroy();
  server.close();
});

const requests = (...paths: string[]) => paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join('');

/** Longer than the event loop may be held before other work runs. */
function holdEventLoop(): void {
  const until = performance.now() + 10;
  while (performance.now() < until);
}

test('requests behind the first one of a read let other work run first', async () => {
  const done = Promise.withResolvers<void>();
  const mine = handled;
  onRequest = (path, response) => {
    if (path === '/1') setImmediate(() => mine.push('other work'));
    holdEventLoop();
    response.end();
    if (path === '/4') done.resolve();
  };
  client.write(requests('/1', '/2', '/3', '/4'));
  await done.promise;
  expect(handled[0]).toBe('/1');
  expect(handled.filter((what) => what !== 'other work')).toEqual(['/1', '/2', '/3', '/4']);
  expect(handled.indexOf('other work')).toBeLessThan(handled.indexOf('/4'));
});

test('requests behind the first one are dropped when their connection has ended', async () => {
  const ended = Promise.withResolvers<void>();
  onRequest = (_path, response) => {
    holdEventLoop();
    response.socket?.once('close', ended.resolve);
    response.destroy();
  };
  client.write(requests('/1', '/2', '/3'));
  await ended.promise;
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(handled).toEqual(['/1']);
});

test('a single request is handled at once', async () => {
  for (const path of ['/1', '/2']) {
    const answered = once(client, 'data');
    client.write(requests(path));
    await answered;
  }
  expect(handled).toEqual(['/1', '/2']);
});
