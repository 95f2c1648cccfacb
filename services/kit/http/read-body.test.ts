import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Budget } from '../budget.ts';
import { listen } from './listen.ts';
import { bodyMaxBytes, type Pace, readBody } from './read-body.ts';

let server: Server;
let client: Socket;
beforeEach(async () => {
  server = createServer();
  const { port } = new URL(await listen(server, { host: '127.0.0.1', port: 0 }));
  client = connect(Number(port), '127.0.0.1');
  client.on('error', () => undefined);
});
afterEach(() => {
  client.destroy();
  server.close();
});

const lots = { total: 1e9, shares: { user: 1e9 } };
const never: Pace = { bytes: 0, periodMs: 60_000 };

/** Reads the body of the next request, and the memory it holds. */
async function reading(header: string, { limits = lots, pace = never, text = '' } = {}) {
  client.write(`POST / HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n${text}`);
  const [request] = await once(server, 'request');
  const budget = new Budget({ what: 'bytes of memory', hint: 'Send less.', ...limits });
  const held = budget.hold({ user: 'u' }, 0);
  const body = readBody(request, held, pace);
  body.catch(() => undefined);
  return { body, budget, held, request };
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

test('a body of known length counts in full before its first byte', async () => {
  const { body, budget } = await reading('content-length: 300000');
  expect(budget.held).toBe(900_000);
  client.write('x'.repeat(100_000));
  client.write('y'.repeat(200_000));
  expect((await body)?.toString()).toBe('x'.repeat(100_000) + 'y'.repeat(200_000));
  expect(budget.held).toBe(900_000);
});

test('a body that arrives in one read with its head is taken in full, and counts the same', async () => {
  const text = 'x'.repeat(20_000);
  const { body, budget, request } = await reading('content-length: 20000', { text });
  expect((await body)?.toString()).toBe(text);
  expect(budget.held).toBe(60_000);
  expect(request.listenerCount('data')).toBe(0);
});

test('a body in one read with its head is refused when there is no room', async () => {
  const limits = { total: 1e6, shares: { user: 59_999 } };
  const { body, budget } = await reading('content-length: 20000', { limits, text: 'x'.repeat(20_000) });
  await expect(body).rejects.toMatchObject({ code: 'rate_limited' });
  expect(budget.held).toBe(0);
});

test('a body of unknown length counts as it grows', async () => {
  const { body, budget } = await reading('transfer-encoding: chunked');
  const text = 'abcdefghij'.repeat(5000);
  client.write((text.match(/.{50}/g) ?? []).map(chunk).join(''));
  client.write('0\r\n\r\n');
  expect((await body)?.toString()).toBe(text);
  expect(budget.held).toBe(3 * 64 * 1024);
});

test('a small body may arrive in single bytes, and a large one may not', async () => {
  const small = await reading('transfer-encoding: chunked');
  client.write(`${chunk('x').repeat(1000)}0\r\n\r\n`);
  expect((await small.body)?.length).toBe(1000);
  const large = await reading('transfer-encoding: chunked');
  client.write(chunk('x').repeat(1100));
  await expect(large.body).rejects.toMatchObject({ code: 'invalid_input' });
});

test.each([
  ['known', `content-length: ${bodyMaxBytes + 1}`, ''],
  ['unknown', 'transfer-encoding: chunked', chunk('x'.repeat(bodyMaxBytes + 1))],
])('a body above the limit is refused, with a length that is %s', async (_, header, text) => {
  const { body } = await reading(header);
  client.write(text);
  await expect(body).rejects.toMatchObject({ code: 'too_large' });
});

test.each([
  ['known', 'content-length: 100000', ''],
  ['unknown', 'transfer-encoding: chunked', chunk('x'.repeat(100_000))],
])('a body without room is refused before it is kept, with a length that is %s', async (_, header, text) => {
  const { body, budget } = await reading(header, { limits: { total: 1e6, shares: { user: 99_999 } } });
  client.write(text);
  await expect(body).rejects.toMatchObject({ code: 'rate_limited' });
  expect(budget.held).toBeLessThanOrEqual(99_999);
});

test('a body that arrives too slowly is refused', async () => {
  const { body } = await reading('content-length: 1000', { pace: { bytes: 100, periodMs: 50 } });
  client.write('x'.repeat(500));
  await expect(body).rejects.toMatchObject({ code: 'timeout', status: 408 });
});

test('a body that arrives fast enough may take several periods', async () => {
  const { body } = await reading('content-length: 40', { pace: { bytes: 1, periodMs: 60 } });
  let sent = 0;
  const sending = setInterval(() => sent++ < 40 && client.write('x'), 10);
  expect((await body)?.length).toBe(40);
  clearInterval(sending);
});

test('a body whose client leaves is null', async () => {
  const { body } = await reading('content-length: 1000');
  client.write('x');
  client.destroy();
  expect(await body).toBe(null);
});
