import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { Platform } from './platform.ts';

type Message = { id?: number; method: string; params?: Record<string, unknown> };
type Answer = (message: Message, request: IncomingMessage, response: ServerResponse) => unknown;

/** An MCP server over Streamable HTTP whose answers a test decides; what `answer` returns is the result, undefined: it wrote itself. */
async function remote(answer: Answer = () => undefined) {
  const asked: { method: string; message: Message | null; headers: IncomingMessage['headers'] }[] = [];
  const usual: Record<string, (message: Message) => unknown> = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: {} }] }),
    'tools/call': ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] }),
    ping: () => ({}),
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message: Message | null = body === '' ? null : JSON.parse(body);
    asked.push({ method: request.method ?? '', message, headers: request.headers });
    const result = await answer(message ?? { method: request.method ?? '' }, request, response);
    if (response.headersSent || response.writableEnded || response.closed) return;
    if (message === null) response.writeHead(405).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else json(response, message.id, result ?? usual[message.method]?.(message));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    launch: (headers: Record<string, string> = {}) => ({
      kind: 'http' as const,
      url: `http://127.0.0.1:${port}/mcp`,
      headers,
    }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function json(response: ServerResponse, id: number | undefined, result: unknown, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

const event = (message: unknown) =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...(message as object) })}\n\n`;
const stream = { 'content-type': 'text/event-stream' };

async function connected(server: Awaited<ReturnType<typeof remote>>, headers = {}): Promise<Platform> {
  const platform = await Platform.open();
  platform.assign({ one: server.launch(headers) });
  await platform.startRuntime();
  await platform.connected('one');
  return platform;
}

test('a tool of a remote MCP server is called, with the headers that were configured', async () => {
  using server = await remote();
  await using platform = await connected(server, { Authorization: 'Bearer t0k3n', 'Content-Type': 'text/plain' });
  expect(JSON.parse(await platform.say('one', { text: 'é' }))).toEqual({ text: 'é' });
  const call = server.asked.find(({ message }) => message?.method === 'tools/call');
  expect(call?.headers).toMatchObject({
    authorization: 'Bearer t0k3n',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  });
  expect(server.asked.map(({ message, method }) => message?.method ?? method)).toEqual(
    expect.arrayContaining(['initialize', 'notifications/initialized', 'GET', 'tools/list', 'tools/call']),
  );
});

test('connections are used again', async () => {
  using server = await remote();
  await using platform = await connected(server);
  const ports = new Set<string | undefined>();
  for (let i = 0; i < 10; i++) await platform.say('one', { i });
  for (const { headers } of server.asked) ports.add(headers.connection);
  expect(ports).toEqual(new Set(['keep-alive']));
});

test('an answer comes as a stream: progress and messages of the call, then its result', async () => {
  using server = await remote(({ id, method, params }, _request, response) => {
    if (method !== 'tools/call') return undefined;
    const { _meta } = params as { _meta: { progressToken: string } };
    const { progressToken } = _meta;
    response.writeHead(200, stream);
    response.write(event({ method: 'notifications/progress', params: { progressToken, progress: 1 } }));
    response.write(event({ method: 'notifications/message', params: { data: 'of this call' } }));
    response.end(event({ id, result: { content: [] } }));
    return null;
  });
  await using platform = await connected(server);
  const heard: string[] = [];
  const params = JSON.stringify({ name: 'echo', arguments: {}, _meta: { progressToken: 't' } });
  const reply = await platform.ask('one', 'tools/call', params, {
    headers: { [callHeader.progress]: 't' },
    onInterim: ({ payload }) => heard.push(JSON.parse(Buffer.from(payload).toString()).method),
  });
  expect(heard).toEqual(['notifications/progress', 'notifications/message']);
  expect(Buffer.from(reply.payload).toString()).toBe('{"content":[]}');
});

describe('a session', () => {
  test('is kept, begun anew when the MCP server has forgotten it, and ended', async () => {
    let session = 'first';
    const renewed = Promise.withResolvers<void>();
    using server = await remote(async ({ id, method, params }, request, response) => {
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };
        json(response, id, result, { 'mcp-session-id': session });
      } else if (request.headers['mcp-session-id'] !== session) {
        // One is told so late that the others have begun anew already.
        if (JSON.stringify(params?.arguments) === '{"i":3}') await renewed.promise;
        response.writeHead(404).end();
      } else if (session === 'second' && method === 'tools/call') {
        renewed.resolve();
      }
      return undefined;
    });
    const platform = await connected(server);
    await platform.say('one', {});
    session = 'second';
    const answers = await Promise.all([1, 2, 3].map((i) => platform.say('one', { i })));
    expect(answers).toEqual(['{"i":1}', '{"i":2}', '{"i":3}']);
    expect(server.asked.filter(({ message }) => message?.method === 'initialize')).toHaveLength(2);
    await platform[Symbol.asyncDispose]();
    expect(server.asked.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'second' } });
  });

  test('that is refused again and again ends in an error, not in a loop', async () => {
    let lost = false;
    using server = await remote(({ id, method }, _request, response) => {
      if (method === 'initialize')
        json(response, id, { protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'x' });
      else if (lost) response.writeHead(404).end('gone');
      return undefined;
    });
    await using platform = await connected(server);
    lost = true;
    await expect(platform.say('one', {})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('404'),
    });
  });
});

test('changed tools are heard of on the stream the MCP server offers', async () => {
  let listener: ServerResponse | null = null;
  let names = ['one'];
  using server = await remote(({ method }, _request, response) => {
    if (method === 'tools/list') return { tools: names.map((name) => ({ name })) };
    if (method !== 'GET') return undefined;
    response.writeHead(200, stream).flushHeaders();
    listener = response;
    return null;
  });
  await using platform = await connected(server);
  await expect.poll(() => listener).not.toBeNull();
  names = ['one', 'two'];
  (listener as unknown as ServerResponse).write(event({ method: 'notifications/tools/list_changed' }));
  await platform.reported('one', ({ tools }) => tools.length === 2);
});

describe('a failing MCP server', () => {
  const cases: readonly (readonly [string, number, string, RegExp])[] = [
    ['needs authorization', 401, 'needs_authorization', /401/],
    ['forbids', 403, 'forbidden', /403/],
    ['is elsewhere', 307, 'redirected', /307/],
    ['is none', 404, 'not_mcp', /404.*no such page/],
    ['is broken', 500, 'failing', /500.*no such page/],
  ];
  test.each(cases)('%s', async (_name, status, code, message) => {
    using server = await remote((_message, _request, response) => response.writeHead(status).end('no such page'));
    await using platform = await Platform.open();
    platform.assign({ one: server.launch() });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status: reported }) => reported === 'Error');
    expect(report).toMatchObject({ health: 'red', reason: { code, message: expect.stringMatching(message) } });
  });

  test('is not there', async () => {
    const server = await remote();
    const launch = server.launch();
    server.close();
    await using platform = await Platform.open();
    platform.assign({ one: launch, two: { kind: 'http', url: 'http://no-such-host.invalid/mcp', headers: {} } });
    await platform.startRuntime();
    const failed = ({ status }: { status: string }) => status === 'Error';
    expect((await platform.reported('one', failed)).reason?.code).toBe('not_reachable');
    expect((await platform.reported('two', failed)).reason?.code).toBe('address_unknown');
  });

  test('says a secret of its headers, which is not passed on', async () => {
    using server = await remote((_message, { headers }, response) =>
      response.writeHead(400).end(`not you, ${headers.authorization}`),
    );
    await using platform = await Platform.open();
    platform.assign({ one: server.launch({ Authorization: 'Bearer s3cr3t-t0k3n' }) });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status }) => status === 'Error');
    expect(report.reason?.message).toContain('not you, [secret]');
    expect(JSON.stringify(report)).not.toContain('s3cr3t-t0k3n');
  });

  test('goes away and comes back', async () => {
    const server = await remote();
    await using platform = await connected(server);
    const port = Number(new URL(server.launch().url).port);
    server.close();
    await expect(platform.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    await platform.reported('one', ({ status }) => status === 'Error');
    const again = createServer((request, response) => {
      request.resume().on('end', () => json(response, 1, { protocolVersion: '2025-11-25', capabilities: {} }));
    });
    again.listen(port, '127.0.0.1');
    await platform.connected('one');
    again.closeAllConnections();
    again.close();
  });
});

describe('a call', () => {
  async function calling(answer: Answer) {
    const server = await remote((message, request, response) =>
      message.method === 'tools/call' ? answer(message, request, response) : undefined,
    );
    return { server, platform: await connected(server) };
  }

  test.each<[string, Answer, string]>([
    [
      'whose answer is cut off',
      (_m, _q, response) => response.writeHead(200, stream).write(event({ method: 'x' })) && response.destroy(),
      'unavailable',
    ],
    ['whose connection breaks', (_m, request) => request.socket.destroy(), 'unavailable'],
    ['whose stream ends without an answer', (_m, _q, response) => response.writeHead(200, stream).end(), 'unavailable'],
    ['whose answer is empty', (_m, _q, response) => response.writeHead(200).end(), 'unavailable'],
    ['that is refused', (_m, _q, response) => response.writeHead(503).end(), 'unavailable'],
    ['whose answer is too large', ({ id }, _q, response) => json(response, id, 'x'.repeat(17_000_000)), 'too_large'],
    ['that hangs', () => new Promise(() => {}), 'timeout'],
  ])('%s', async (_name, answer, code) => {
    const { server, platform } = await calling((message, request, response) => {
      const { arguments: given } = message.params as { arguments: { fail?: boolean } };
      if (!given.fail) return undefined;
      answer(message, request, response);
      return new Promise(() => {});
    });
    using _server = server;
    await using running = platform;
    const failing = running.callTool('one', 'echo', { fail: true }, { timeoutMs: 1500 });
    await expect(failing).rejects.toMatchObject({ code });
    expect(await running.say('one', { fail: false })).toBe('{"fail":false}');
    expect(await running.connected('one')).toMatchObject({ restarts: 0 });
  });

  test('whose stream stays open after its answer is answered, and the stream is closed', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { server, platform } = await calling(({ id }, _request, response) => {
      response.on('close', resolve);
      response.writeHead(200, stream).write(event({ id, result: { content: [{ type: 'text', text: 'answered' }] } }));
    });
    using _server = server;
    await using running = platform;
    expect(await running.say('one', {})).toBe('answered');
    await closed;
  });

  test('that is cancelled closes its request', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { server, platform } = await calling((_message, _request, response) => {
      response.on('close', resolve);
      response.writeHead(200, stream).flushHeaders();
      begin();
    });
    using _server = server;
    await using running = platform;
    const cancel = new AbortController();
    const hanging = running.callTool('one', 'echo', {}, { signal: cancel.signal });
    await begun;
    cancel.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled' });
    await closed;
  });
});

test('an MCP server that nobody here wrote', { timeout: 20_000 }, async () => {
  const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const port = await freePort();
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  });
  await using platform = await Platform.open();
  platform.assign({ one: { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} } });
  await platform.startRuntime();
  const { tools } = await platform.connected('one');
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect(await platform.say('one', { message: 'hi' })).toBe('Echo: hi');
  child.kill();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
