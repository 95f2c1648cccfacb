import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { SvcError } from '../../contracts/errors.ts';
import { Conversation } from '../supervisor/conversation.ts';
import { greet } from '../supervisor/greet.ts';
import { listTools } from '../supervisor/tool-list.ts';
import { event, eventStream, httpMcpServer } from './http-mcp-server.ts';
import { malformedMessages, malformedValues } from './malformed.ts';
import { Platform, script } from './platform.ts';

vi.setConfig({ testTimeout: 60_000 });

const lines = malformedMessages();
/** One call's params are limited in size. */
const portions = Array.from({ length: Math.ceil(lines.length / 100) }, (_, at) =>
  lines.slice(100 * at, 100 * at + 100),
);

test('every kind of malformed message occurs', () => {
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines).toContain(
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{"toString":1},"progress":1,"total":2}}',
  );
});

/** Two at once with the same token, so that one of them is replaced and must be restored. */
async function callBoth(platform: Platform, given: unknown): Promise<void> {
  const params = JSON.stringify({ name: 'echo', arguments: given, _meta: { progressToken: 'same' } });
  const headers = { [callHeader.progress]: 'same' };
  await Promise.all([1, 2].map(() => platform.ask('odd', 'tools/call', params, { headers })));
}

async function expectUnharmed(platform: Platform): Promise<void> {
  expect(await platform.say('one', { text: 'x' })).toBe('one: x');
  const degraded = await platform.reported('odd', ({ reason }) => reason?.code === 'not_only_mcp');
  expect(degraded).toMatchObject({ status: 'Connected', restarts: 0 });
  expect(platform.logged.filter((line) => line.includes('failed unexpectedly'))).toEqual([]);
}

test('malformed output of an MCP server on stdio is reported as garbage and affects no other', async () => {
  await using platform = await Platform.open();
  platform.assign({ odd: script('says'), one: script('echo', ['one']) });
  await platform.startRuntime();
  await Promise.all(['odd', 'one'].map((name) => platform.connected(name)));
  const pid = await platform.say('odd', {});
  for (const portion of portions) await callBoth(platform, { lines: portion });
  expect(await platform.say('odd', {})).toBe(pid);
  await expectUnharmed(platform);
});

test('malformed messages of an MCP server over HTTP, with an answer or without a request, are reported as garbage and affect no other', async () => {
  using server = await oddOverHttp();
  await using platform = await Platform.open();
  platform.assign({ odd: server.launch, one: script('echo', ['one']) });
  await platform.startRuntime();
  await Promise.all(['odd', 'one'].map((name) => platform.connected(name)));
  await server.listening;
  for (let at = 0; at < portions.length; at++) await callBoth(platform, { portion: at });
  await expectUnharmed(platform);
});

/**
 * Sends the malformed messages as events, on the stream of a call before its answer and on the stream without a
 * request.
 */
async function oddOverHttp() {
  const listening = Promise.withResolvers<ServerResponse>();
  const server = await httpMcpServer(async ({ id, method, params }, _request, response) => {
    if (method !== 'GET' && method !== 'tools/call') return;
    response.writeHead(200, eventStream).flushHeaders();
    if (method === 'GET') return listening.resolve(response);
    const { arguments: given, _meta } = params as {
      arguments: { portion: number };
      _meta?: { progressToken: unknown };
    };
    const token = JSON.stringify(_meta?.progressToken ?? null);
    for (const line of portions[given.portion] ?? []) {
      const odd = `data: ${line.replaceAll('"@id"', String(id)).replaceAll('"@token"', token)}\n\n`;
      response.write(odd);
      (await listening.promise).write(odd);
    }
    response.end(event({ id, result: { content: [{ type: 'text', text: 'done' }] } }));
  });
  return { launch: server.launch(), listening: listening.promise, [Symbol.dispose]: server.close };
}

const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: {} };
const listed = { tools: [{ name: 'a', inputSchema: { type: 'object' } }, { name: 'b' }], nextCursor: 'c' };

test.each<[string, readonly string[], (conversation: Conversation) => Promise<unknown>]>([
  ['the handshake', malformedValues(initialized), (conversation) => greet(conversation, '1', 1000)],
  ['the list of tools', malformedValues(listed), (conversation) => listTools(conversation, 1000)],
])('a malformed answer to %s is understood or refused, and causes no bug', async (_name, answers, ask) => {
  expect(answers.length).toBeGreaterThan(100);
  for (const answer of answers) {
    for (const kind of ['result', 'error']) {
      const conversation = answering((id) => `{"jsonrpc":"2.0","id":${id},"${kind}":${answer}}`);
      await ask(conversation).catch((error) => expect(error).toBeInstanceOf(SvcError));
      conversation.close(new SvcError('unavailable', 'It is over.'));
    }
  }
});

/** A conversation with an MCP server that gives the same answer to every request, or an invalid one. */
function answering(answer: (id: number) => string): Conversation {
  const conversation: Conversation = new Conversation('odd', {
    toolsChanged: () => {},
    doubted: () => {},
    garbage: (_sample, bug) => {
      expect(bug).toBeUndefined();
      conversation.close(new SvcError('unavailable', 'It makes no sense.'));
    },
  });
  conversation.begin({
    send(_message, about) {
      if (about.kind === 'request') setImmediate(() => conversation.hear(Buffer.from(answer(about.id)), null));
    },
    forget() {},
    lastWords: () => [],
    stop: async () => {},
  });
  return conversation;
}

test.each([
  ['not json at all', /"odd" is not valid JSON/],
  ['{"content":[}', /"odd" is not valid JSON/],
  [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, /"odd" is nested more than 512 levels/],
])('the call whose result is %.20s fails at once with the reason', async (result, message) => {
  const garbage = vi.fn();
  const conversation: Conversation = new Conversation('odd', { toolsChanged: () => {}, doubted: () => {}, garbage });
  conversation.begin({
    send(_message, about) {
      if (about.kind !== 'request') return;
      const line = `{"jsonrpc":"2.0","id":${about.id},"result":${about.method === 'bad' ? result : '{"a":1}'}}`;
      setImmediate(() => conversation.hear(Buffer.from(line), null));
    },
    forget() {},
    lastWords: () => [],
    stop: async () => {},
  });
  const [bad, good] = await Promise.allSettled(['bad', 'good'].map((method) => conversation.ask(method, {}, 10_000)));
  expect(bad).toMatchObject({
    status: 'rejected',
    reason: { code: 'unavailable', message: expect.stringMatching(message) },
  });
  expect(good).toMatchObject({ status: 'fulfilled', value: { kind: 'result' } });
  expect(garbage).toHaveBeenCalledOnce();
  conversation.close(new SvcError('unavailable', 'It is over.'));
});
