import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen } from './listen.ts';
import { RefusedBodies } from './refused-bodies.ts';

let server: Server;
let port: number;
let refused: RefusedBodies;
const clients: Socket[] = [];

beforeEach(async () => {
  server = createServer();
  refused = new RefusedBodies();
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

/** A client that was answered 413 before its body was read. */
async function refusedClient(header: string): Promise<{ client: Socket; request: IncomingMessage }> {
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(client);
  client.resume();
  client.write(`POST / HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`);
  const [request, response] = await once(server, 'request');
  refused.drop(request);
  response.writeHead(413).end('refused');
  return { client, request };
}

test('the body is read slowly, and the connection can be used again', async () => {
  const { client } = await refusedClient('content-length: 500000');
  const began = performance.now();
  client.write(Buffer.alloc(500_000));
  client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
  await once(server, 'request');
  expect(performance.now() - began).toBeGreaterThan(100);
});

test('a body of unknown length is read only up to a number of chunks', async () => {
  const { client, request } = await refusedClient('transfer-encoding: chunked');
  client.write('1\r\nx\r\n'.repeat(100_000));
  await new Promise((closed) => client.once('close', closed));
  expect(request.socket.bytesRead).toBeLessThan(400_000);
});

test('many bodies together are read no faster than a few', async () => {
  const readIn = async (count: number) => {
    const refusals: Awaited<ReturnType<typeof refusedClient>>[] = [];
    while (refusals.length < count) refusals.push(await refusedClient('content-length: 4000000'));
    const bytesRead = () => refusals.reduce((sum, { request }) => sum + request.socket.bytesRead, 0);
    for (const { client } of refusals) client.write(Buffer.alloc(3_000_000));
    // Each body is read once without a pause.
    await pause(200);
    const before = bytesRead();
    await pause(1000);
    return bytesRead() - before;
  };
  const ofFew = await readIn(8);
  for (const client of clients.splice(0)) {
    client.destroy();
    await once(client, 'close');
  }
  expect(await readIn(64)).toBeLessThan(2 * ofFew);
});
