import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { type Answer, answerJson, event, eventStream, type HttpMcpServer, httpMcpServer } from './http-mcp-server.ts';
import { Platform } from './platform.ts';

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

async function connected(server: HttpMcpServer, headers = {}): Promise<Platform> {
  const platform = await Platform.open();
  platform.assign({ one: server.launch(headers) });
  await platform.startRuntime();
  await platform.connected('one');
  return platform;
}

test('a tool of a remote MCP server is called, with the configured headers', async () => {
  using server = await httpMcpServer();
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

test('connections are reused', async () => {
  using server = await httpMcpServer();
  await using platform = await connected(server);
  const ports = new Set<string | undefined>();
  for (let i = 0; i < 10; i++) await platform.say('one', { i });
  for (const { headers } of server.asked) ports.add(headers.connection);
  expect(ports).toEqual(new Set(['keep-alive']));
});

test('an answer arrives as a stream: progress and messages of the call, then its result', async () => {
  using server = await httpMcpServer(({ id, method, params }, _request, response) => {
    if (method !== 'tools/call') return undefined;
    const { _meta } = params as { _meta: { progressToken: string } };
    const { progressToken } = _meta;
    response.writeHead(200, eventStream);
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
  test('is kept, renewed when the MCP server has forgotten it, and ended', async () => {
    let session = 'first';
    const renewed = Promise.withResolvers<void>();
    using server = await httpMcpServer(async ({ id, method, params }, request, response) => {
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };
        answerJson(response, id, result, { 'mcp-session-id': session });
      } else if (request.headers['mcp-session-id'] !== session) {
        // One learns it so late that the others have renewed the session already.
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
    using server = await httpMcpServer(({ id, method }, _request, response) => {
      if (method === 'initialize')
        answerJson(response, id, { protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'x' });
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

test('changed tools are noticed on the stream that the MCP server offers', async () => {
  let listener: ServerResponse | null = null;
  let names = ['one'];
  using server = await httpMcpServer(({ method }, _request, response) => {
    if (method === 'tools/list') return { tools: names.map((name) => ({ name })) };
    if (method !== 'GET') return undefined;
    response.writeHead(200, eventStream).flushHeaders();
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
    ['is none', 404, 'not_mcp', /404/],
    ['is broken', 500, 'failing', /500/],
  ];
  test.each(cases)('%s', async (_name, status, code, message) => {
    using server = await httpMcpServer((_message, _request, response) =>
      response.writeHead(status).end('no such page'),
    );
    await using platform = await Platform.open();
    platform.assign({ one: server.launch() });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status: reported }) => reported === 'Error');
    expect(report).toMatchObject({ health: 'red', reason: { code, message: expect.stringMatching(message) } });
    // Members and agents read reasons; operators read the log.
    expect(JSON.stringify(report.reason)).not.toContain('no such page');
    expect(platform.logOf('launchers')).toMatchObject([{ mcpServerName: 'one', status, said: 'no such page' }]);
  });

  test('uses another protocol', async () => {
    using server = await httpMcpServer((_message, { socket }) => void socket.write(switching));
    await using platform = await Platform.open();
    platform.assign({ one: server.launch() });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status }) => status === 'Error');
    expect(report.reason).toMatchObject({ code: 'not_mcp', message: expect.stringContaining('101') });
  });

  test('is unreachable', async () => {
    const server = await httpMcpServer();
    const launch = server.launch();
    server.close();
    await using platform = await Platform.open();
    platform.assign({ one: launch, two: { kind: 'http', url: 'http://no-such-host.invalid/mcp', headers: {} } });
    await platform.startRuntime();
    const failed = ({ status }: { status: string }) => status === 'Error';
    expect((await platform.reported('one', failed)).reason?.code).toBe('not_reachable');
    expect((await platform.reported('two', failed)).reason?.code).toBe('address_unknown');
  });

  test('that quotes a secret of its headers does not pass it on', async () => {
    using server = await httpMcpServer((_message, { headers }, response) =>
      response.writeHead(400).end(`not you, ${headers.authorization}`),
    );
    await using platform = await Platform.open();
    platform.assign({ one: server.launch({ Authorization: 'Bearer s3cr3t-t0k3n' }) });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status }) => status === 'Error');
    expect(platform.logOf('launchers')).toMatchObject([{ said: 'not you, [secret]' }]);
    expect(JSON.stringify([report, platform.logged])).not.toContain('s3cr3t-t0k3n');
  });

  test('ends and returns', async () => {
    const server = await httpMcpServer();
    await using platform = await connected(server);
    const port = Number(new URL(server.launch().url).port);
    server.close();
    await expect(platform.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    await platform.reported('one', ({ status }) => status === 'Error');
    const again = createServer((request, response) => {
      request.resume().on('end', () => answerJson(response, 1, { protocolVersion: '2025-11-25', capabilities: {} }));
    });
    again.listen(port, '127.0.0.1');
    await platform.connected('one');
    again.closeAllConnections();
    again.close();
  });
});

describe('a call', () => {
  async function calling(answer: Answer) {
    const server = await httpMcpServer((message, request, response) =>
      message.method === 'tools/call' ? answer(message, request, response) : undefined,
    );
    return { server, platform: await connected(server) };
  }

  test.each<[string, Answer, string]>([
    [
      'whose answer is cut off',
      (_m, _q, response) => response.writeHead(200, eventStream).write(event({ method: 'x' })) && response.destroy(),
      'unavailable',
    ],
    ['whose connection breaks', (_m, request) => request.socket.destroy(), 'unavailable'],
    [
      'whose stream ends without an answer',
      (_m, _q, response) => response.writeHead(200, eventStream).end(),
      'unavailable',
    ],
    ['whose answer is empty', (_m, _q, response) => response.writeHead(200).end(), 'unavailable'],
    [
      'that is answered in another protocol',
      (_m, { socket }) => {
        socket.write(switching);
      },
      'unavailable',
    ],
    ['that is refused', (_m, _q, response) => response.writeHead(503).end(), 'unavailable'],
    [
      'whose answer is too large',
      ({ id }, _q, response) => answerJson(response, id, 'x'.repeat(17_000_000)),
      'too_large',
    ],
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

  test('whose refusal does not end is refused', async () => {
    const { server, platform } = await calling((_message, _request, response) => {
      response.writeHead(503).write('wait');
    });
    using _server = server;
    await using running = platform;
    await expect(running.say('one', {})).rejects.toMatchObject({ message: expect.stringContaining('503') });
    expect(running.logOf('launchers')).toMatchObject([{ status: 503, said: 'wait' }]);
  });

  test('whose stream stays open after its answer is answered, and the stream is closed', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { server, platform } = await calling(({ id }, _request, response) => {
      response.on('close', resolve);
      response
        .writeHead(200, eventStream)
        .write(event({ id, result: { content: [{ type: 'text', text: 'answered' }] } }));
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
      response.writeHead(200, eventStream).flushHeaders();
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

test('a foreign MCP server', { timeout: 20_000 }, async () => {
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
