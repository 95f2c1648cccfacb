import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Budget } from '../budget.ts';
import { AdmittedConnections } from './admitted-connections.ts';
import { Connections } from './connections.ts';
import { listen } from './listen.ts';

let server: Server;
let port: number;
let connections: AdmittedConnections<'user'>;
let count: number;
const opened: Socket[] = [];

beforeEach(async () => {
  server = createServer();
  count = 0;
  const places = new Budget({ what: 'connections', total: 8, shares: { user: 2 }, hint: 'Close one.' });
  connections = new AdmittedConnections(new Connections(server, { strangersMax: 2 }), places);
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  server.close();
});

function newUser() {
  return { user: `u${++count}` };
}

async function open(): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  opened.push(client);
  const [socket] = await once(server, 'connection');
  return socket;
}

test('a sender has a limited number of connections, and room again when one closes', async () => {
  const user = newUser();
  const first = await open();
  connections.use(first, user);
  connections.use(first, user);
  connections.use(await open(), user);
  const third = await open();
  expect(() => connections.use(third, user)).toThrow('This user may hold at most 2 connections at once.');
  connections.use(third, newUser());
  first.destroy();
  await once(first, 'close');
  connections.use(await open(), user);
});

test('a connection of several senders counts for the last of them', async () => {
  const [user, other] = [newUser(), newUser()];
  const shared = await open();
  for (let i = 0; i < 10; i++) {
    connections.use(shared, user);
    connections.use(shared, other);
  }
  connections.use(await open(), user);
  connections.use(await open(), user);
  expect(() => connections.use(shared, user)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
});

test('a connection without room at its sender stays unauthenticated', async () => {
  const user = newUser();
  connections.use(await open(), user);
  connections.use(await open(), user);
  const third = await open();
  expect(() => connections.use(third, user)).toThrow();
  await open();
  await open();
  expect(third.destroyed).toBe(true);
});
