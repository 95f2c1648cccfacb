import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Connections } from '../../kit/http/connections.ts';
import { listen } from '../../kit/http/listen.ts';
import { KeyConnections } from './key-connections.ts';

let server: Server;
let port: number;
let connections: KeyConnections;
const opened: Socket[] = [];

beforeEach(async () => {
  server = createServer();
  connections = new KeyConnections(new Connections(server, { strangersMax: 2 }), { max: 4, perKeyMax: 2 });
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  server.close();
});

async function open(): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  opened.push(client);
  const [socket] = await once(server, 'connection');
  return socket;
}

test('a key has so many connections, and room again when one closes', async () => {
  const key = newId('key');
  const first = await open();
  connections.use(first, key);
  connections.use(first, key);
  connections.use(await open(), key);
  const third = await open();
  expect(() => connections.use(third, key)).toThrow('This key has too many open connections.');
  connections.use(third, newId('key'));
  first.destroy();
  await once(first, 'close');
  connections.use(await open(), key);
});

test('a connection of several keys counts for the last of them', async () => {
  const [key, other] = [newId('key'), newId('key')];
  const shared = await open();
  for (let i = 0; i < 10; i++) {
    connections.use(shared, key);
    connections.use(shared, other);
  }
  connections.use(await open(), key);
  connections.use(await open(), key);
  expect(() => connections.use(shared, key)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
});

test('a connection that its key has no room for stays a stranger', async () => {
  const key = newId('key');
  connections.use(await open(), key);
  connections.use(await open(), key);
  const third = await open();
  expect(() => connections.use(third, key)).toThrow();
  await open();
  await open();
  expect(third.destroyed).toBe(true);
});
