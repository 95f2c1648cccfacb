import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerHealth, createHealthServer } from './health.ts';
import { listen, stopListening } from './listen.ts';

let missing: readonly string[] = [];
const server = createHealthServer(() => missing);
let url = '';
beforeAll(async () => {
  url = await listen(server, { host: '127.0.0.1', port: 0 });
});
afterAll(() => stopListening(server, 1000));

describe('/health', () => {
  it.each([undefined, 'Bearer nonsense', 'nonsense'])(
    'answers 200 with the Authorization header %j',
    async (header) => {
      const response = await fetch(
        `${url}/health?a=b`,
        header === undefined ? {} : { headers: { authorization: header } },
      );
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'ok' });
      expect(response.headers.get('cache-control')).toBe('no-store');
    },
  );

  it('answers 200 also while not ready', async () => {
    missing = ['The bus is not connected.'];
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});

describe('/ready', () => {
  it('answers 503 with the missing parts, then 200', async () => {
    missing = ['The bus is not connected.'];
    const before = await fetch(`${url}/ready`);
    expect(before.status).toBe(503);
    expect(await before.json()).toEqual({ status: 'not ready', missing });
    missing = [];
    const after = await fetch(`${url}/ready`);
    expect(after.status).toBe(200);
    expect(await after.json()).toEqual({ status: 'ready' });
  });
});

it('/ready answers 200 and names the degraded parts, unless a required one is missing', async () => {
  let absent: readonly string[] = ['The bus is not connected.'];
  const lacking = createServer((request, response) => {
    answerHealth(
      request,
      response,
      () => absent,
      () => ['The backend is away.'],
    );
  });
  const at = await listen(lacking, { host: '127.0.0.1', port: 0 });
  expect((await fetch(`${at}/ready`)).status).toBe(503);
  absent = [];
  const response = await fetch(`${at}/ready`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'degraded', degraded: ['The backend is away.'] });
  await stopListening(lacking, 1000);
});

describe('anything else', () => {
  it.each(['/health', '/ready'])('than GET and HEAD of %s is refused', async (path) => {
    const head = await fetch(url + path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await fetch(url + path, { method: 'POST', body: 'x' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/', '/mcp', '/health/', '/healthy', '/ready/x'])('such as %s is not found', async (path) => {
    const response = await fetch(url + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });
});
