import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

/** An address for agents that answers as each test says. */
type Answer = (response: ServerResponse, body: { id?: number; method?: string; params?: unknown }) => void;
let server: Server;
let answer: Answer;
/** The methods that arrived, in order. */
let heard: string[];
let authorizations: Set<string | undefined>;
let callTool: typeof import('../graphql/mcp-client.ts').callTool;

beforeAll(async () => {
  server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  vi.stubGlobal('window', { __ENV__: { PUBLIC_BACKEND_URL: 'http://127.0.0.1:1', PUBLIC_MCP_URL: url } });
  ({ callTool } = await import('../graphql/mcp-client.ts'));
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  heard = [];
  authorizations = new Set();
});
// The end of a session may arrive after the answer of its call.
afterEach(() => expect.poll(() => heard.at(-1)).toBe('DELETE'));

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = await text(request);
  const body = sent === '' ? {} : JSON.parse(sent);
  heard.push(body.method ?? request.method);
  authorizations.add(request.headers.authorization);
  if (body.method === 'initialize') {
    response.setHeader('mcp-session-id', 's1');
    json(response, 200, { jsonrpc: '2.0', id: body.id, result: { protocolVersion: '2025-11-25' } });
  } else if (body.method === 'tools/call') answer(response, body);
  else response.writeHead(body.method === undefined ? 204 : 202).end();
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const progress: string[] = [];
const call = (signal = new AbortController().signal) =>
  callTool({
    ...{ name: 'echo', input: { a: 1 }, token: async () => 'TOKEN', signal },
    onProgress: (said) => void progress.push(said),
  });

test('a call has a session of its own, which ends with it', async () => {
  let params: unknown;
  answer = (response, body) => {
    params = body.params;
    json(response, 200, { jsonrpc: '2.0', id: body.id, result: { content: [] } });
  };
  expect(await call()).toEqual({ content: [] });
  expect(params).toMatchObject({ name: 'echo', arguments: { a: 1 } });
  await expect.poll(() => heard).toEqual(['initialize', 'notifications/initialized', 'tools/call', 'DELETE']);
  expect([...authorizations]).toEqual(['Bearer TOKEN']);
});

test('progress arrives before the result', async () => {
  answer = (response, { id }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const params = { progressToken: id, progress: 1, total: 2, message: 'half' };
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [1] } })}\n\n`);
  };
  expect(await call()).toEqual({ content: [1] });
  expect(progress.splice(0)).toEqual(['1/2 half']);
});

describe('a failure is told in the words of', () => {
  const cases: readonly (readonly [string, number, (id?: number) => object, object])[] = [
    [
      'the platform',
      200,
      (id) => ({
        jsonrpc: '2.0',
        id,
        error: { code: -31503, message: 'Away.', data: { code: 'unavailable', hint: 'Wait.' } },
      }),
      { code: 'unavailable', message: 'Away.', hint: 'Wait.' },
    ],
    [
      'the platform, over HTTP',
      403,
      () => ({ error: { code: 'forbidden', message: 'Suspended.', hint: 'Ask.' } }),
      { code: 'forbidden', message: 'Suspended.', hint: 'Ask.' },
    ],
    [
      'the platform, about the token',
      401,
      () => ({
        jsonrpc: '2.0',
        id: null,
        error: { code: -31401, message: 'Revoked.', data: { code: 'unauthenticated' } },
      }),
      { code: 'unauthenticated', message: 'Revoked.' },
    ],
    [
      'the MCP server',
      200,
      (id) => ({ jsonrpc: '2.0', id, error: { code: -32602, message: 'Bad input' } }),
      { code: 'unavailable', message: 'The MCP server answered with an error: Bad input' },
    ],
  ];
  test.each(cases)('%s', async (_whose, status, body, error) => {
    answer = (response, { id }) => json(response, status, body(id));
    await expect(call()).rejects.toMatchObject({ name: 'ShownError', ...error });
  });
});

test.each(['', 'nothing of MCP', '{"jsonrpc":"2.0","id":2}'])(
  'an answer without a result is a failure: "%s"',
  async (body) => {
    answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    await expect(call()).rejects.toMatchObject({ name: 'ShownError', code: 'unavailable' });
  },
);

test('a cancelled call is cancelled at the platform, before its session ends', async () => {
  const controller = new AbortController();
  answer = () => controller.abort(new Error('the person left'));
  await expect(call(controller.signal)).rejects.toThrow('the person left');
  await expect
    .poll(() => heard)
    .toEqual(['initialize', 'notifications/initialized', 'tools/call', 'notifications/cancelled', 'DELETE']);
});

test('a result without an end is cut off', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const part = Buffer.alloc(1024 * 1024, 32);
    const more = () => {
      while (!response.destroyed && response.write(part));
    };
    response.on('drain', more);
    more();
  };
  await expect(call()).rejects.toMatchObject({ name: 'ShownError', code: 'too_large' });
});
