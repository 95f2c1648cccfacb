import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Platform, startPlatform } from './platform.ts';
import { openSession, ping, rpc, send } from './raw.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let key: string;
let session: string;

beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_ALLOWED_ORIGINS: 'https://app.example.com' } });
  workspace = await TestWorkspace.create(platform, 'acme');
  key = (await workspace.key('agent')).text;
  session = await openSession(platform.mcpUrl, key);
});
afterAll(() => platform.stop());

const post = (body: unknown, more: object = {}) => send(platform.mcpUrl, { key, session, body, ...more });

describe('the form of a request', () => {
  test.each<[string, number, Readonly<Record<string, string | null>>]>([
    ['Accept of both forms', 200, {}],
    [
      'Accept in another order, with parameters',
      200,
      { accept: 'text/event-stream;q=0.5, application/json; charset=utf-8' },
    ],
    ['no Accept', 200, { accept: null }],
    ['Accept of anything', 200, { accept: '*/*' }],
    ['Accept of JSON only', 200, { accept: 'application/json' }],
    ['Accept of events only', 200, { accept: 'text/event-stream' }],
    ['Accept of neither', 406, { accept: 'text/html' }],
    ['Accept that rules both out', 406, { accept: 'application/json;q=0, text/event-stream;q=0.0' }],
    ['Content-Type with a charset', 200, { 'content-type': 'Application/JSON; charset=utf-8' }],
    ['Content-Type of a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['Content-Type of text', 415, { 'content-type': 'text/plain' }],
    ['Content-Encoding', 415, { 'content-encoding': 'gzip' }],
  ])('%s: %i', async (_what, status, headers) => {
    const answer = await post(ping, { headers });
    expect(answer.status).toBe(status);
    if (status !== 200) expect(answer.body.error).toMatchObject({ code: 'unsupported', hint: expect.any(String) });
  });

  test('a client that accepts events only gets an event', async () => {
    const answer = await post(ping, { headers: { accept: 'text/event-stream' } });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.text).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  });

  test.each<[string, unknown, number]>([
    ['no JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a batch', [ping, ping], -32600],
    ['a message without method', { jsonrpc: '2.0', id: 1 }, -32600],
    [
      'a deep message',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
      -32600,
    ],
  ])('a body that is %s: 400', async (_what, body, code) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
  });

  test('a body of 4 MiB is accepted, and a byte more is refused with a readable answer', async () => {
    const padded = (bytes: number) => {
      const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"';
      return `${start}${'x'.repeat(bytes - start.length - 3)}"}}`;
    };
    expect((await post(padded(4 * 1024 * 1024))).status).toBe(200);
    const answer = await post(padded(4 * 1024 * 1024 + 1));
    expect([answer.status, answer.body.error.code]).toEqual([413, 'too_large']);
    const twice = await Promise.all([post('x'.repeat(20 * 1024 * 1024)), post(ping)]);
    expect(twice.map(({ status }) => status)).toEqual([413, 200]);
  });

  test('a body may arrive in many small parts', async () => {
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'mcp-session-id': session };
      const slow = request(platform.mcpUrl, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
      for (const character of JSON.stringify(ping)) slow.write(character);
      slow.end();
    });
    expect(answer).toBe(200);
  });

  test('notifications and responses are accepted with 202 and no body', async () => {
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/unheard_of', params: {} },
      { jsonrpc: '2.0', id: 5, result: {} },
    ]) {
      const answer = await post(body);
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });
});

describe('versions', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('%s is spoken', async (version) => {
    const answer = await send(platform.mcpUrl, { key, body: rpc('initialize', { protocolVersion: version }) });
    expect(answer.body.result.protocolVersion).toBe(version);
  });

  test('an unknown version is answered with the newest', async () => {
    for (const protocolVersion of ['1999-01-01', '2099-01-01', '']) {
      const answer = await send(platform.mcpUrl, { key, body: rpc('initialize', { protocolVersion }) });
      expect(answer.body.result.protocolVersion).toBe('2025-11-25');
    }
  });

  test('initialize without a version is refused', async () => {
    const answer = await send(platform.mcpUrl, { key, body: rpc('initialize', {}, 3) });
    expect(answer.body).toMatchObject({ id: 3, error: { code: -32602 } });
    expect(answer.headers.has('mcp-session-id')).toBe(false);
  });

  test('the header may be missing or any known version, and an unknown one is refused', async () => {
    const status = async (version: string | null) =>
      (await post(rpc('tools/list'), { headers: { 'mcp-protocol-version': version } })).status;
    expect(await status(null)).toBe(200);
    expect(await status('2025-03-26')).toBe(200);
    expect(await status('2026-07-28')).toBe(400);
    expect(await status('nonsense')).toBe(400);
  });

  test('a ping is answered with any version header', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    expect((await send(platform.mcpUrl, { key, body: ping, headers })).status).toBe(200);
  });

  test('every offered method is answered', async () => {
    const { body } = await send(platform.mcpUrl, { key, body: rpc('initialize', { protocolVersion: '2025-11-25' }) });
    expect(body.result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'svc', title: 'acme', version: '1.2.3' },
      instructions: expect.stringMatching(/list_skills/),
    });
  });
});

describe('methods', () => {
  test.each([
    'prompts/list',
    'resources/read',
    'completion/complete',
    'tasks/list',
    'server/discover',
    'toString',
    '__proto__',
  ])('%s is not one that is served', async (method) => {
    const { status, body } = await post(rpc(method, {}, 'x'));
    expect([status, body]).toMatchObject([
      200,
      { id: 'x', error: { code: -32601, message: expect.stringContaining(method) } },
    ]);
  });

  test('the log level must be one of eight', async () => {
    expect((await post(rpc('logging/setLevel', { level: 'warning' }))).body.result).toEqual({});
    expect((await post(rpc('logging/setLevel', { level: 'loud' }))).body.error.code).toBe(-32602);
  });

  test.each<[string, string, readonly string[]]>([
    ['PUT', '/mcp', ['405', 'GET, POST, DELETE, OPTIONS']],
    ['PATCH', '/mcp', ['405', 'GET, POST, DELETE, OPTIONS']],
    ['HEAD', '/mcp', ['405', 'GET, POST, DELETE, OPTIONS']],
    ['POST', '/health', ['405', 'GET, HEAD']],
    ['POST', '/.well-known/oauth-protected-resource', ['405', 'GET, HEAD, OPTIONS']],
  ])('%s %s is no method of it', async (method, path, expected) => {
    const answer = await send(platform.url + path, { method, key });
    expect([String(answer.status), answer.headers.get('allow')]).toEqual(expected);
  });

  test.each(['/', '/mcp/', '/mcpx', '/sse', '/.well-known/oauth-protected-resource/other', '/healthy', '//mcp'])(
    '%s is nothing',
    async (path) => {
      const answer = await send(platform.url + path, { key, body: ping });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    },
  );
});

describe('origins', () => {
  const allowed = { origin: 'https://app.example.com' };

  test.each([
    'https://evil.example',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'null',
    `http://127.0.0.1:1`,
  ])('%s is refused', async (origin) => {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const answer = await send(platform.mcpUrl, { method, key, session, headers: { origin } });
      expect([method, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([method, 403, null]);
      expect(answer.body.error).toMatchObject({
        code: 'forbidden',
        hint: expect.stringMatching(/SVC_ALLOWED_ORIGINS/),
      });
    }
  });

  test('a listed origin may call, and may read the headers that it needs', async () => {
    const answer = await post(ping, { headers: allowed });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed.origin);
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/mcp-session-id.*www-authenticate/);
    const refused = await send(platform.mcpUrl, { body: ping, headers: allowed });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, allowed.origin]);
  });

  test('a preflight needs no key', async () => {
    const headers = {
      ...allowed,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const answer = await send(platform.mcpUrl, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-methods')).toMatch(/POST/);
    expect(answer.headers.get('access-control-allow-headers')).toMatch(
      /authorization.*mcp-session-id.*mcp-protocol-version/,
    );
  });

  test('without a list every origin is refused, and requests without one are not', async () => {
    const another = await platform.startAnother({ SVC_ALLOWED_ORIGINS: '' });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await send(`${another.url}/mcp`, { key, body: ping, headers })).status;
    expect([await status(allowed), await status({})]).toEqual([403, 200]);
  });

  test('with SVC_PREVENT_DNS_REBINDING=false no origin is refused', async () => {
    const another = await platform.startAnother({ SVC_PREVENT_DNS_REBINDING: 'false' });
    const answer = await send(`${another.url}/mcp`, { key, body: ping, headers: { origin: 'https://any.example' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://any.example']);
  });
});

describe('the request id', () => {
  test("is the client's own if it is valid, and a new one otherwise", async () => {
    const idOf = async (given: string | null) =>
      (await post(ping, { headers: { 'x-request-id': given } })).headers.get('x-request-id');
    expect(await idOf('abc-1.2_3')).toBe('abc-1.2_3');
    for (const given of [null, 'a b', 'x'.repeat(65), '<script>'])
      expect(await idOf(given)).toMatch(/^p[0-9A-Za-z]{11}-/);
  });
});

test('a silent client, or one that sends only a beginning, does not delay other clients', async () => {
  const { hostname, port } = new URL(platform.url);
  const idle = [connect(Number(port), hostname), connect(Number(port), hostname)];
  idle[1]?.write('POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bea');
  expect((await post(ping)).status).toBe(200);
  for (const socket of idle) socket.destroy();
});
