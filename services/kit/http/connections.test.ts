import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Connections } from './connections.ts';
import { listen } from './listen.ts';

let server: Server;
let port: number;
let connections: Connections;
const opened: Socket[] = [];

beforeEach(async () => {
  server = createServer();
  connections = new Connections(server, { strangersMax: 4 });
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  server.close();
});

/** Both ends of a connection from that address of this machine. */
async function open(localAddress = '127.0.0.1') {
  const client = connect({ port, host: '127.0.0.1', localAddress });
  client.on('error', () => undefined);
  opened.push(client);
  const [socket]: Socket[] = await once(server, 'connection');
  if (socket === undefined) throw new Error('no connection');
  return { client, socket };
}

function isOpen({ socket }: { readonly socket: Socket }): boolean {
  return !socket.destroyed;
}

test('of too many unauthenticated connections the oldest is closed', async () => {
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await open());
  expect(all.map(isOpen)).toEqual([false, false, true, true, true, true]);
});

test('an authenticated connection is not closed for a new one', async () => {
  const good = await open();
  connections.admit(good.socket);
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await open());
  expect([isOpen(good), ...all.map(isOpen)]).toEqual([true, false, false, true, true, true, true]);
});

test('an unauthenticated connection is not closed during its request', async () => {
  const asking = await open();
  asking.client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [, response]: ServerResponse[] = await once(server, 'request');
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await open());
  expect(isOpen(asking)).toBe(true);
  response?.end();
  await once(asking.client, 'data');
  for (let i = 0; i < 4; i++) all.push(await open());
  expect(isOpen(asking)).toBe(false);
});

test('an address with more than its share loses its own connections first', async () => {
  const other = await open('127.0.0.2');
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await open());
  expect([isOpen(other), ...all.map(isOpen)]).toEqual([true, false, false, false, true, true, true]);
  const newcomer = await open('127.0.0.3');
  expect([isOpen(newcomer), isOpen(other)]).toEqual([true, false]);
});

test('a closed connection takes no place', async () => {
  for (let i = 0; i < 20; i++) {
    const { client, socket } = await open();
    client.destroy();
    if (!socket.destroyed) await once(socket, 'close');
  }
  const all = [];
  for (let i = 0; i < 4; i++) all.push(await open());
  expect(all.every(isOpen)).toBe(true);
});

test('an unlimited number of pipelined requests behind a slow one ends the connection', async () => {
  const { client, socket } = await open();
  let asked = 0;
  server.on('request', () => asked++);
  for (let i = 0; i < 100; i++) client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'close');
  expect(asked).toBeGreaterThan(16);
});

test('a few pipelined requests are answered in order, again and again', async () => {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => response.end(request.url));
  const { client } = await open();
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 10; i++) client.write(`GET /${round}-${i}- HTTP/1.1\r\nhost: x\r\n\r\n`);
    while (!text.includes(`/${round}-9-`)) await once(client, 'data');
  }
  expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(100);
});
