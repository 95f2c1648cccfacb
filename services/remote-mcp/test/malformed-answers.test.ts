import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { workedMs } from '../../kit/test/worked-ms.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { type Answerer, result, tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

/** A runtime whose answers break the contract. An agent must get JSON-RPC from it, or an error. */
let platform: Platform;
let key: { id: string; text: string };
let session: string;

beforeAll(async () => {
  platform = await startPlatform();
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('echo')]);
  const skill = await workspace.skill('all', ['files/echo']);
  await workspace.role('All', [skill]);
  key = await workspace.key('agent');
  session = await openSession(platform.mcpUrl, key.text);
  await until(async () => isGood(await call()));
});
afterAll(() => platform.stop());

const call = (_meta?: object, accept?: string, id = 7) =>
  send(platform.mcpUrl, {
    key: key.text,
    session,
    ...(accept === undefined ? {} : { headers: { accept } }),
    body: rpc('tools/call', { name: 'echo', arguments: {}, ...(_meta === undefined ? {} : { _meta }) }, id),
  });
const reply =
  (kind: string | null, payload: string | Uint8Array): Answerer =>
  async () => ({ payload: Buffer.from(payload as string), headers: kind === null ? {} : { [callHeader.kind]: kind } });

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('a malformed answer', () => {
  test.each<[string, string | null, string | Uint8Array, RegExp]>([
    ['no JSON', 'result', 'not json at all', /not valid JSON/],
    ['nothing', 'result', '', /not valid JSON/],
    ['half a result', 'result', '{"content":[', /not valid JSON/],
    ['a result and a brace', 'result', '{}}', /not valid JSON/],
    ['a result and members of the response', 'result', '{},"id":8,"x":{}', /not valid JSON/],
    ['a result and another response', 'result', '{}}\n{"jsonrpc":"2.0","id":8,"result":{}', /not valid JSON/],
    ['a result with a line break in a text', 'result', '{"a":"\n"}', /not valid JSON/],
    ['bytes that are not UTF-8', 'result', Buffer.from([0x22, 0xff, 0x22]), /not valid JSON/],
    ['100,000 levels', 'result', deep, /nested more than 512 levels/],
    ['15 MB without an end', 'result', `"${'x'.repeat(15_000_000)}`, /not valid JSON/],
    ['an error that is not JSON', 'error', '{', /not valid JSON/],
    ['an error that is a text', 'error', '"no"', /not a JSON-RPC error/],
    ['an error without a code', 'error', '{"message":"x"}', /not a JSON-RPC error/],
    ['an error with half a code', 'error', '{"code":1.5,"message":"x"}', /not a JSON-RPC error/],
    ['a refusal that is not JSON', 'refused', 'x', /not valid JSON/],
    ['a refusal that is null', 'refused', 'null', /not a refusal/],
    ['a refusal without words', 'refused', '{"code":{}}', /not a refusal/],
    ['an unknown kind', 'surprise', '{}', /of an unknown kind/],
    ['no kind', null, '{}', /of an unknown kind/],
  ])('%s: the agent gets an error that names the MCP server', async (_name, kind, payload, why) => {
    platform.runtime.answer(reply(kind, payload));
    const { status, body } = await call();
    expect([status, body.jsonrpc, body.id, body.result]).toEqual([200, '2.0', 7, undefined]);
    expect(body.error).toMatchObject({
      code: -31503,
      message: expect.stringMatching(why),
      data: { code: 'unavailable' },
    });
    expect(body.error.message).toContain('"files"');
    platform.runtime.answer(async () => result({ content: [] }));
    expect((await call()).body.result).toEqual({ content: [] });
  });

  test('is logged by the name of the runtime, at a bounded rate, and is no bug', async () => {
    platform.runtime.answer(reply('result', 'secret words'));
    for (let times = 0; times < 30; times++) await call();
    const lines = platform.logged.filter((line) => line.includes('answer of a runtime was not usable'));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(10);
    expect(lines[0]).toContain(platform.runtime.runtime);
    expect(platform.logged.join('')).not.toMatch(/failed unexpectedly|secret words/);
  });
});

describe('interim replies', () => {
  const progress = (token: string, more: object = {}) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: token, progress: 1, ...more },
  });
  const rows: [string, (token: string) => string, kind?: string][] = [
    ['no JSON', () => 'not json'],
    ['nothing', () => ''],
    ['a list', (token) => JSON.stringify([progress(token)])],
    ['a request', (token) => JSON.stringify({ ...progress(token), id: 1 })],
    ['a response to the call', () => '{"jsonrpc":"2.0","id":7,"result":{}}'],
    ["another call's token", () => JSON.stringify(progress('another'))],
    ["the agent's own token", () => JSON.stringify(progress('mine'))],
    ['a token that is not text', () => JSON.stringify(progress({} as string))],
    ['no token', () => '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}'],
    ['malformed params', () => '{"jsonrpc":"2.0","method":"notifications/progress","params":[]}'],
    ['another version', (token) => JSON.stringify({ ...progress(token), jsonrpc: '1.0' })],
    ['another method', (token) => JSON.stringify({ ...progress(token), method: 'notifications/tools/list_changed' })],
    ['100,000 levels', (token) => JSON.stringify(progress(token, { message: '@' })).replace('"@"', deep)],
    ['a megabyte', (token) => JSON.stringify(progress(token, { message: 'x'.repeat(1_000_000) }))],
    [
      'a log message without a level',
      () => '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":{},"data":1}}',
    ],
    ['a result as an interim', () => '{}', 'result'],
  ];
  test.each(rows)('%s is not passed on, and the answer is', async (_name, write, kind = 'notification') => {
    platform.runtime.answer(async ({ params }, request) => {
      const { progressToken } = params._meta;
      await request.interim(Buffer.from(write(progressToken)), { [callHeader.kind]: kind });
      await request.interim(Buffer.from(JSON.stringify(progress(progressToken))), {
        [callHeader.kind]: 'notification',
      });
      return result({ content: [] });
    });
    const { text } = await call({ progressToken: 'mine' }, 'application/json, text/event-stream');
    const messages = text
      .split('\n')
      .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
    expect(messages).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'mine', progress: 1 } },
      { jsonrpc: '2.0', id: 7, result: { content: [] } },
    ]);
    expect(platform.logged.join('')).not.toMatch(/failed to take an interim reply/);
  });
});

test('while a runtime floods one call with interim replies, other calls are answered in time', async () => {
  const ended = Promise.withResolvers<void>();
  let sent = 0;
  const message = Array.from({ length: 60_000 }, () => []);
  let reply = Buffer.alloc(0);
  platform.runtime.answer(async ({ params }, request) => {
    const { progressToken } = params._meta ?? {};
    if (progressToken === undefined) return result({ content: [] });
    reply = Buffer.from(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1, message },
      }),
    );
    for (; sent < 600; sent++) await request.interim(reply, { [callHeader.kind]: 'notification' });
    ended.resolve();
    return result({ content: [] });
  });
  const began = workedMs();
  const flooded = call({ progressToken: 'mine' }, 'application/json, text/event-stream', 8);
  expect((await call()).body.result).toEqual({ content: [] });
  expect(sent).toBeLessThan(600);
  await ended.promise;
  expect((await call()).body.result).toEqual({ content: [] });
  const flood = workedMs() - began;
  // The test compares work with work: most replies must be dropped before they are parsed.
  const parsing = workedMs();
  for (let times = 0; times < 60; times++) JSON.parse(reply.toString());
  expect(flood).toBeLessThan(5 * (workedMs() - parsing));
  expect(sent).toBe(600);
  expect((await flooded).text).toContain('"result":{"content":[]}');
});
