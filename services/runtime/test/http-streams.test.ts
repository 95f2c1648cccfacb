import { describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { HttpEndpoint } from '../launchers/http-endpoint.ts';
import { HttpListening } from '../launchers/http-listening.ts';
import { HttpSession } from '../launchers/http-session.ts';
import { type Answer, answerJson, event, eventStream, httpMcpServer } from './http-mcp-server.ts';
import { Platform } from './platform.ts';

const result = { content: [{ type: 'text', text: 'at last' }] };

describe('a call whose connection closes before its answer', () => {
  /** `begin` answers the call, `goOn` a GET that names an event. */
  async function calling(begin: Answer, goOn: Answer) {
    const server = await httpMcpServer((message, request, response) => {
      if (message.method === 'tools/call') return begin(message, request, response);
      if (request.headers['last-event-id'] !== undefined) return goOn(message, request, response);
      if (message.method === 'initialize') {
        const greeting = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };
        answerJson(response, message.id, greeting, { 'mcp-session-id': 'session' });
      }
      return undefined;
    });
    const platform = await Platform.open();
    platform.assign({ one: server.launch() });
    await platform.startRuntime();
    await platform.connected('one');
    return { server, platform };
  }

  const counted = ({ asked }: Awaited<ReturnType<typeof httpMcpServer>>, method: string) =>
    asked.filter(({ message }) => message?.method === method).length;

  test("is resumed after the last event, at the MCP server's request, until the answer", async () => {
    let callId: number | undefined;
    let closedAt = 0;
    let askedAfterMs = 0;
    const { server, platform } = await calling(
      ({ id }, _request, response) => {
        callId = id;
        closedAt = performance.now();
        response.writeHead(200, eventStream).end('id: e1\nretry: 300\ndata: \n\n');
      },
      (_message, { headers }, response) => {
        response.writeHead(200, eventStream);
        if (headers['last-event-id'] === 'e1') {
          askedAfterMs = performance.now() - closedAt;
          response.end(`retry: 1\nid: e2\n${event({ method: 'notifications/message', params: { data: 'half' } })}`);
        } else response.end(`id: e3\n${event({ id: callId, result })}`);
      },
    );
    using _server = server;
    await using running = platform;
    const heard: string[] = [];
    const params = JSON.stringify({ name: 'echo', arguments: {} });
    const reply = await running.ask('one', 'tools/call', params, {
      headers: { [callHeader.progress]: 't' },
      onInterim: ({ payload }) => heard.push(JSON.parse(Buffer.from(payload).toString()).params.data),
    });
    expect(JSON.parse(Buffer.from(reply.payload).toString())).toEqual(result);
    expect(heard).toEqual(['half']);
    const resumed = server.asked.filter(({ headers }) => headers['last-event-id'] !== undefined);
    expect(resumed.map(({ headers }) => headers['last-event-id'])).toEqual(['e1', 'e2']);
    expect(resumed[0]).toMatchObject({
      method: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-session-id': 'session', 'mcp-protocol-version': '2025-11-25' },
    });
    expect(askedAfterMs).toBeGreaterThan(295); // Node's timers may be a little early.
    expect(counted(server, 'tools/call')).toBe(1);
  });

  test('by a network failure, and then cannot be opened for a while, is still resumed', async () => {
    let callId: number | undefined;
    let tries = 0;
    const { server, platform } = await calling(
      ({ id }, _request, response) => {
        callId = id;
        response.writeHead(200, eventStream).write('id: e1\nretry: 1\n\n', () => response.destroy());
        return new Promise(() => {});
      },
      (_message, { socket }, response) => {
        tries++;
        if (tries === 1) socket.destroy();
        else if (tries === 2) response.writeHead(503).end();
        else response.writeHead(200, eventStream).end(event({ id: callId, result }));
      },
    );
    using _server = server;
    await using running = platform;
    expect(await running.say('one', {})).toBe('at last');
    expect(tries).toBe(3);
    expect(counted(server, 'tools/call')).toBe(1);
  });

  const early: Answer = (_message, _request, response) =>
    void response.writeHead(200, eventStream).end('id: e1\nretry: 1\n\n');

  test.each<[string, Answer]>([
    ['the MCP server offers no stream', (_message, _request, response) => void response.writeHead(405).end()],
    ['no stream comes', (_message, _request, response) => void response.writeHead(200).end('{}')],
    ['the session is lost', (_message, _request, response) => void response.writeHead(404).end()],
  ])('is not answered, and not repeated, when %s', async (_name, goOn) => {
    const { server, platform } = await calling(early, goOn);
    using _server = server;
    await using running = platform;
    await expect(running.say('one', {})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('without an answer'),
    });
    expect(counted(server, 'tools/call')).toBe(1);
  });

  test('and whose session is then lost gets a new session for the next call', async () => {
    const { server, platform } = await calling(early, (_message, _request, response) => {
      response.writeHead(404).end();
    });
    using _server = server;
    await using running = platform;
    await expect(running.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    await expect.poll(() => counted(server, 'notifications/initialized'), { timeout: 10_000 }).toBe(2);
    expect(await running.connected('one')).toMatchObject({ restarts: 0 });
  });

  test('reports from a refusal that a credential is needed', async () => {
    const { server, platform } = await calling(early, (_message, _request, response) => {
      response.writeHead(401).end();
    });
    using _server = server;
    await using running = platform;
    await expect(running.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    const report = await running.reported('one', ({ status }) => status === 'Error');
    expect(report.reason?.code).toBe('needs_authorization');
  });

  test('is not waited for longer than its deadline', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { server, platform } = await calling(early, (_message, _request, response) => {
      response.on('close', resolve).writeHead(200, eventStream).flushHeaders();
      return new Promise(() => {});
    });
    using _server = server;
    await using running = platform;
    await expect(running.callTool('one', 'echo', {}, { timeoutMs: 1500 })).rejects.toMatchObject({ code: 'timeout' });
    await closed;
  });
});

describe('the stream for messages without a request', () => {
  /** `listen` answers the GETs in order; the last one stays. The tools change with the last. */
  async function listeningTo(...answers: readonly ((response: Parameters<Answer>[2]) => void)[]) {
    const server = await httpMcpServer(({ method }, _request, response) => {
      const gets = server.asked.filter(({ method: asked }) => asked === 'GET').length;
      if (method === 'tools/list') return { tools: gets < answers.length ? [] : [{ name: 'late' }] };
      if (method === 'GET') answers[Math.min(gets, answers.length) - 1]?.(response);
      return undefined;
    });
    const platform = await Platform.open();
    platform.assign({ one: server.launch() });
    await platform.startRuntime();
    await platform.reported('one', ({ tools }) => tools.length === 1);
    return { server, platform, gets: server.asked.filter(({ method }) => method === 'GET') };
  }

  const open = (response: Parameters<Answer>[2]) => response.writeHead(200, eventStream).flushHeaders();

  test.each([503, 429])('is requested again after HTTP %i, and missed messages are looked for', async (status) => {
    const { server, platform } = await listeningTo((response) => response.writeHead(status).end(), open);
    using _server = server;
    await using _platform = platform;
  });

  test('is resumed after its last event', async () => {
    const { server, platform, gets } = await listeningTo(
      (response) => response.writeHead(200, eventStream).end('id: e1\nretry: 1\n\n'),
      (response) => {
        open(response);
        response.write(event({ method: 'notifications/tools/list_changed' }));
      },
    );
    using _server = server;
    await using _platform = platform;
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e1']);
  });

  test('begins again when the MCP server no longer knows the event', async () => {
    const { server, platform, gets } = await listeningTo(
      (response) => response.writeHead(200, eventStream).end('id: e1\nretry: 1\n\n'),
      (response) => response.writeHead(400).end('no such event'),
      open,
    );
    using _server = server;
    await using _platform = platform;
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e1', undefined]);
  });

  test.each<[string, Answer]>([
    ['HTTP 405', () => undefined],
    ['HTTP 403', (_message, _request, response) => response.writeHead(403).end()],
    ['HTTP 404 in every session', (_message, _request, response) => response.writeHead(404).end()],
    ['something else', (_message, _request, response) => response.writeHead(200).end('{}')],
  ])('is given up when the MCP server says %s', async (_name, answer) => {
    using server = await httpMcpServer((message, request, response) => {
      if (message.method === 'GET') return answer(message, request, response);
      if (message.method !== 'initialize') return undefined;
      return answerJson(response, message.id, { protocolVersion: '2025-11-25' }, { 'mcp-session-id': 'session' });
    });
    const endpoint = new HttpEndpoint({
      name: 'one',
      url: new URL(server.launch().url),
      headers: {},
      proxyEnv: {},
      addresses: null,
    });
    const { signal } = new AbortController();
    const onLost = () => expect.unreachable();
    const options = {
      endpoint,
      onRefusal: () => expect.unreachable(),
      renewalMaxMs: 10_000,
      signal,
      onRenewed: () => {},
      onLost,
    };
    const session = new HttpSession(options);
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"initialize"}');
    session.begin(body);
    const response = await endpoint.request({ method: 'POST', body, terms: session.terms, signal });
    session.open(response);
    for await (const chunk of response) session.learn(chunk);
    const listener = { message: () => true, garbage: () => {}, renewed: () => {} };
    await new HttpListening({ endpoint, session, listener, signal }).run();
    endpoint.close();
  });
});
