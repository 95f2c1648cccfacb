import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type Answer, event, eventStream, httpMcpServer } from './http-mcp-server.ts';
import { Platform } from './platform.ts';

async function running(answer: Answer) {
  const server = await httpMcpServer(answer);
  const platform = await Platform.open();
  platform.assign({ one: server.launch() });
  await platform.startRuntime();
  await platform.connected('one');
  return { server, platform };
}

/** Writes for as long as the other side reads; returns how much it took. */
function endless(socket: Socket, chunk: Buffer): () => number {
  let bytes = 0;
  const fill = () => {
    while (!socket.destroyed) {
      bytes += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', fill);
  fill();
  return () => bytes;
}

test('an endless body after a notification is not read', async () => {
  const taken: (() => number)[] = [];
  const { server, platform } = await running(({ id, method }, { socket }) => {
    if (id !== undefined || method === 'GET') return undefined;
    socket.write('HTTP/1.1 202 Accepted\r\nContent-Type: text/plain\r\n\r\n');
    taken.push(endless(socket, Buffer.alloc(64 * 1024)));
    return new Promise(() => {});
  });
  using _server = server;
  await using running_ = platform;
  await expect.poll(() => taken.length).toBeGreaterThan(0);
  for (let i = 0; i < 5; i++) await running_.say('one', { i });
  // The content of both sockets' buffers, and no more.
  expect(Math.max(...taken.map((bytes) => bytes()))).toBeLessThan(32 * 1024 * 1024);
});

test.each<[string, Buffer]>([
  ['headers', Buffer.from(`X-More: ${'x'.repeat(1000)}\r\n`)],
  ['interim responses', Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')],
])('endless %s end the call', async (_name, chunk) => {
  let taken = () => 0;
  const { server, platform } = await running(({ method }, { socket }) => {
    if (method !== 'tools/call') return undefined;
    if (!chunk.toString().startsWith('HTTP')) socket.write('HTTP/1.1 200 OK\r\n');
    taken = endless(socket, chunk);
    return new Promise(() => {});
  });
  using _server = server;
  await using running_ = platform;
  await expect(running_.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
  expect(taken()).toBeLessThan(32 * 1024 * 1024);
});

test('an answer of slow single bytes ends with the deadline of its call', async () => {
  let timer: NodeJS.Timeout | undefined;
  const closed = Promise.withResolvers<void>();
  const { server, platform } = await running(({ method }, _request, response) => {
    if (method !== 'tools/call') return undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    timer = setInterval(() => response.write(' '), 50);
    response.on('close', closed.resolve);
    return new Promise(() => {});
  });
  using _server = server;
  await using running_ = platform;
  const call = running_.callTool('one', 'echo', {}, { timeoutMs: 700 });
  await expect(call).rejects.toMatchObject({ code: 'timeout' });
  await closed.promise;
  clearInterval(timer);
});

test('a compressed body is not unpacked', async () => {
  const { server, platform } = await running(({ method }, _request, response) => {
    if (method !== 'tools/call') return undefined;
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(Buffer.from('1f8b0800000000000003', 'hex'));
    return new Promise(() => {});
  });
  using _server = server;
  await using running_ = platform;
  await expect(running_.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
});

test('requests of the MCP server are answered no faster than it takes the answers', { timeout: 40_000 }, async () => {
  let unanswered = 0;
  const { server, platform } = await running(({ id, method }, _request, response) => {
    if (method === 'GET') {
      response.writeHead(200, eventStream);
      const ping = event({ id: 'p', method: 'ping' }).repeat(100);
      for (let i = 0; i < 100; i++) response.write(ping);
      return new Promise(() => {});
    }
    if (id === undefined || method !== undefined) return undefined;
    unanswered++;
    return new Promise(() => {});
  });
  using _server = server;
  await using running_ = platform;
  await expect.poll(() => unanswered, { timeout: 10_000 }).toBeGreaterThan(0);
  for (let i = 0; i < 20; i++) expect(await running_.say('one', { i })).toBe(`{"i":${i}}`);
  expect(unanswered).toBeLessThanOrEqual(64);
});
