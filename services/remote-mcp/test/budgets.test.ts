import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, ping, rpc, send } from './raw.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let key: string;
let other: string;
const opened: Socket[] = [];

beforeAll(async () => {
  platform = await startPlatform();
  key = (await (await TestWorkspace.create(platform, 'greedy')).key('agent')).text;
  other = (await (await TestWorkspace.create(platform, 'acme')).key('agent')).text;
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => platform.stop());

const largest = 4 * 1024 * 1024;

/** A request without its body, and the answer. */
async function begin(header: string, as = key) {
  const { hostname, port } = new URL(platform.url);
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  const heard = { text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    heard.text += chunk;
  });
  await once(socket, 'connect');
  const lines = ['POST /mcp HTTP/1.1', 'host: x', `authorization: Bearer ${as}`, 'content-type: application/json'];
  socket.write(`${[...lines, header].join('\r\n')}\r\n\r\n`);
  return { socket, heard };
}

function messageOf(bytes: number): string {
  const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"';
  return `${start}${'x'.repeat(bytes - start.length - 3)}"}}`;
}

test('endless bodies hold the share of their key only, and give it back', async () => {
  const begun = await Promise.all(Array.from({ length: 20 }, () => begin(`content-length: ${largest}`)));
  const refused = () => begun.filter(({ heard }) => heard.text.startsWith('HTTP/1.1 429'));
  await until(() => refused().length === 15);
  expect(refused()[0]?.heard.text).toMatch(/retry-after: 1[\s\S]*This key may hold at most 67108864 bytes of memory/);
  expect((await send(platform.mcpUrl, { key, body: messageOf(largest) })).status).toBe(429);
  expect((await send(platform.mcpUrl, { key: other, body: messageOf(largest) })).status).toBe(200);
  expect((await send(platform.mcpUrl, { key, body: ping })).status).toBe(200);
  for (const { socket } of begun) socket.destroy();
  await until(async () => (await send(platform.mcpUrl, { key, body: messageOf(largest) })).status === 200);
});

test('a body that stops is dropped after five seconds', async () => {
  const { heard } = await begin('content-length: 1000');
  const began = performance.now();
  await until(() => heard.text.startsWith('HTTP/1.1 408'));
  expect(performance.now() - began).toBeGreaterThan(4000);
});

test('messages of every kind release their memory', async () => {
  const session = await openSession(platform.mcpUrl, key);
  const bodies = [
    messageOf(largest),
    'x'.repeat(largest),
    `[${'{},'.repeat(1_000_000)}{}]`,
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { x: 'x'.repeat(largest / 2) } }),
    JSON.stringify({ jsonrpc: '2.0', id: 5, result: { x: 'x'.repeat(largest / 2) } }),
    JSON.stringify(rpc('tools/call', { name: 'nothing', arguments: { x: 'x'.repeat(largest / 2) } })),
  ];
  for (let round = 0; round < 8; round++) {
    for (const body of bodies) expect((await send(platform.mcpUrl, { key, session, body })).status).not.toBe(429);
  }
});

test('endless pipelined requests lose their connection, and other clients do not wait', async () => {
  const { socket } = await begin('content-length: 1000000');
  const body = JSON.stringify(ping);
  const one = `POST /mcp HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  socket.write(`${'x'.repeat(1_000_000)}${one.repeat(5000)}`);
  await new Promise((closed) => socket.once('close', closed));
  expect((await send(platform.mcpUrl, { key: other, body: ping })).status).toBe(200);
});

test('all keys of a workspace have one share together, which other workspaces do not notice', async () => {
  const workspace = await TestWorkspace.create(platform, 'many');
  const keys = await Promise.all(Array.from({ length: 12 }, async (_, nth) => (await workspace.key(`k${nth}`)).text));
  const begun = await Promise.all(
    keys.flatMap((ofMany) => Array.from({ length: 5 }, () => begin(`content-length: ${largest}`, ofMany))),
  );
  const refused = () => begun.filter(({ heard }) => heard.text.startsWith('HTTP/1.1 429'));
  await until(() => refused().length === 50);
  expect(refused()[0]?.heard.text).toContain('This workspace may hold at most 134217728 bytes of memory at once.');
  for (let count = 0; count < 3; count++) {
    expect((await send(platform.mcpUrl, { key: other, body: messageOf(largest) })).status).toBe(200);
  }
});
