import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { streams } from '../../contracts/bus/subjects.ts';
import { newProcessId } from '../../contracts/ids.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, ping, rpc, send } from './raw.ts';
import { notify, result, tool } from './runtime.ts';
import { openStream, type TestStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let key: string;
/** Two remote-mcps of the same platform. An agent may use either. */
let urls: { readonly A: string; readonly B: string };
type Replica = keyof typeof urls;

beforeAll(async () => {
  platform = await startPlatform();
  urls = { A: platform.mcpUrl, B: `${(await platform.startAnother()).url}/mcp` };
  workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('read'), tool('write')]);
  const skills = [await workspace.skill('reading', ['files/read']), await workspace.skill('writing', ['files/write'])];
  await workspace.role('All', skills);
  key = (await workspace.key('agent')).text;
  for (const at of ['A', 'B'] as const) {
    const session = await openSession(urls[at], key);
    await until(async () => isGood(await call(at, session, 'read')));
    await until(async () => isGood(await call(at, session, 'write')));
  }
});
afterAll(() => platform.stop());

const ask = (at: Replica, session: string, method: string, params: object = {}, id?: string) =>
  send(urls[at], { key, session, body: rpc(method, params, id) });
const call = (at: Replica, session: string, name: string, args: object = {}) =>
  ask(at, session, 'tools/call', { name, arguments: args });
const listed = async (at: Replica, session: string): Promise<readonly string[]> =>
  (await ask(at, session, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name);
const listChanges = (stream: TestStream) =>
  stream.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length;

const both = ['A', 'B'] as const;
const ways = both.flatMap((opens) =>
  both.flatMap((holds) => both.flatMap((calls) => both.map((cancels) => ({ opens, holds, calls, cancels })))),
);

describe.each(ways)('opened at $opens, stream at $holds, calls at $calls, cancelled at $cancels', (way) => {
  const { opens, holds, calls, cancels } = way;

  test('tools disclosed at one remote-mcp are disclosed at all, and the stream announces them', async () => {
    const session = await openSession(urls[opens], key);
    const stream = await openStream(urls[holds], { key, session });
    await ask(holds, session, 'tools/list');
    const before = listChanges(stream);
    expect(isGood(await call(calls, session, 'load_skill', { skill: 'reading' }))).toBe(true);
    await until(() => listChanges(stream) > before);
    for (const at of both) await until(async () => (await listed(at, session)).includes('read'));
    expect(isGood(await call(cancels, session, 'deactivate_role', { role: 'All' }))).toBe(true);
    await until(() => listChanges(stream) > before + 1);
    for (const at of both) await until(async () => !(await listed(at, session)).includes('read'));
    expect((await call(calls, session, 'read')).body.result.isError).toBe(true);
    expect(isGood(await call(opens, session, 'activate_role', { role: 'All' }))).toBe(true);
    for (const at of both) await until(async () => (await listed(at, session)).includes('read'));
    stream.close();
  });

  test('a call sends its progress at its own remote-mcp, and can be cancelled at any', async () => {
    const session = await openSession(urls[opens], key);
    const stream = await openStream(urls[holds], { key, session });
    let wasCancelled = false;
    platform.runtime.answer(async ({ progress }, request) => {
      await notify(request, 'notifications/progress', { progressToken: progress, progress: 1 });
      return new Promise((_, reject) =>
        request.signal.addEventListener('abort', {
          handleEvent: () => {
            wasCancelled = true;
            reject(request.signal.reason);
          },
        }),
      );
    });
    const params = { name: 'read', arguments: {}, _meta: { progressToken: 'p' } };
    const body = rpc('tools/call', params, 'the-call');
    const answer = await openStream(urls[calls], { key, session, method: 'POST', body });
    await until(() => answer.messages.length === 1);
    expect(answer.messages[0]).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p' } });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'the-call' } };
    expect((await send(urls[cancels], { key, session, body: cancelled })).status).toBe(202);
    await answer.closed;
    await until(() => wasCancelled);
    expect(answer.messages).toHaveLength(1);
    expect(stream.messages.filter(({ method }) => method === 'notifications/progress')).toEqual([]);
    platform.runtime.answer(async () => result({ content: [] }));
    expect(isGood(await call(calls, session, 'read'))).toBe(true);
    stream.close();
  });

  test('the end of a session ends it and its calls at every remote-mcp', async () => {
    const session = await openSession(urls[opens], key);
    const stream = await openStream(urls[holds], { key, session });
    const before = platform.runtime.calls.length;
    platform.runtime.answer(() => new Promise(() => undefined));
    const underWay = call(calls, session, 'read');
    await until(() => platform.runtime.calls.length > before);
    expect((await send(urls[cancels], { method: 'DELETE', key, session })).status).toBe(204);
    await stream.closed;
    expect((await underWay).text).toBe('');
    platform.runtime.answer(async () => result({ content: [] }));
    for (const at of both) await until(async () => (await ask(at, session, 'tools/list')).status === 404);
  });
});

test('a tool added to a skill that was loaded elsewhere is announced on the stream', async () => {
  const own = await workspace.mcpServer('growing', [tool('first')]);
  const skill = await workspace.skill('growing', ['growing/first', 'growing/second']);
  await workspace.role('Growing', [skill]);
  for (const at of both) {
    const fresh = await openSession(urls[at], key);
    await until(async () => isGood(await call(at, fresh, 'first')));
  }
  const session = await openSession(urls.A, key);
  const stream = await openStream(urls.B, { key, session });
  // B has received no request, so it does not know the agent's list.
  await until(() => listChanges(stream) === 1);
  expect(isGood(await call('A', session, 'load_skill', { skill: 'growing' }))).toBe(true);
  await until(() => listChanges(stream) === 2);
  await platform.runtime.report(own, {}, [tool('first'), tool('second')]);
  await until(() => listChanges(stream) === 3);
  await until(async () => (await listed('A', session)).includes('second'));
  stream.close();
});

test('a message without a request goes to the newest open stream, at any remote-mcp', async () => {
  const session = await openSession(urls.A, key);
  const older = await openStream(urls.A, { key, session });
  // Two streams of the same millisecond would both be the newest.
  const openedAt = Date.now();
  await until(() => Date.now() > openedAt + 1);
  const newer = await openStream(urls.B, { key, session });
  await until(() => listChanges(newer) === 1);
  expect(isGood(await call('A', session, 'load_skill', { skill: 'reading' }))).toBe(true);
  await until(() => listChanges(newer) === 2);
  const said = listChanges(older);
  expect(isGood(await call('B', session, 'load_skill', { skill: 'writing' }))).toBe(true);
  await until(() => listChanges(newer) === 3);
  expect(listChanges(older)).toBe(said);
  newer.close();
  await until(async () => {
    await call('B', session, 'deactivate_role', { role: 'All' });
    await call('B', session, 'activate_role', { role: 'All' });
    return listChanges(older) > said;
  });
  older.close();
});

test('a call that waits for a start is cancelled, or ended with its session, at another remote-mcp', async () => {
  const own = await workspace.mcpServer('slow-to-start', [tool('awaited')]);
  await workspace.role('Slow', [await workspace.skill('slow', ['slow-to-start/awaited'])]);
  const session = await openSession(urls.A, key);
  await until(async () => isGood(await call('A', session, 'awaited')));
  const reason = { code: 'starting', message: 'It is starting.', repair: 'Wait a moment.' };
  await platform.runtime.report(own, { status: 'Disconnected', health: 'red', reason });
  await until(async () => (await call('A', session, 'list_skills')).text.includes('It is starting'));
  const before = platform.runtime.calls.length;
  /** Of two calls with one id, one waits and the other is refused. */
  const waiting = async (id: string) => {
    const twins = [1, 2].map(() => ask('A', session, 'tools/call', { name: 'awaited' }, id));
    const first = await Promise.race(twins.map(async (twin, at) => ({ at, text: (await twin).text })));
    expect(first.text).toContain('under way');
    return { answer: twins[1 - first.at] };
  };
  const cancelled = await waiting('first');
  const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'first' } };
  await send(urls.B, { key, session, body });
  expect((await cancelled.answer)?.text).toBe('');
  const ended = await waiting('second');
  expect((await send(urls.B, { method: 'DELETE', key, session })).status).toBe(204);
  expect((await ended.answer)?.text).toBe('');
  expect(platform.runtime.calls).toHaveLength(before);
});

test('a revoked key ends its sessions at every remote-mcp', async () => {
  const revoked = await workspace.key('revoked');
  const by = { key: revoked.text, session: await openSession(urls.A, revoked.text) };
  const opened = [await openStream(urls.A, by), await openStream(urls.B, by)];
  const before = platform.runtime.calls.length;
  platform.runtime.answer(() => new Promise(() => undefined));
  const body = rpc('tools/call', { name: 'read', arguments: {} });
  const underWay = both.map((at) => send(urls[at], { ...by, body: { ...body, id: at } }));
  await until(() => platform.runtime.calls.length === before + 2);
  await workspace.revoke(revoked.id);
  for (const { closed } of opened) await closed;
  for (const answer of underWay) expect((await answer).status).toBe(401);
  for (const at of both) expect((await send(urls[at], { ...by, body: ping })).status).toBe(401);
  platform.runtime.answer(async () => result({ content: [] }));
});

test('each call is counted once, at any remote-mcp', async () => {
  const backend = await platform.hub.connect({ kind: 'backend' }, newProcessId());
  const counted = new Map<string, number>();
  const consumer = backend.stream(streams.usage).consume('replicas', async (batch) => {
    for (const one of batch) {
      for (const { call } of JSON.parse(Buffer.from(one).toString()))
        if (call?.outcome === 'ok') counted.set(call.mcpServer, (counted.get(call.mcpServer) ?? 0) + call.calls);
    }
  });
  const own = await workspace.mcpServer('counted', [tool('count')]);
  await workspace.role('Counted', [await workspace.skill('counted', ['counted/count'])]);
  const session = await openSession(urls.A, key);
  for (const at of both) await until(async () => isGood(await call(at, session, 'count')));
  await Promise.all(Array.from({ length: 20 }, (_, at) => call(both[at % 2] ?? 'A', session, 'count')));
  const made = platform.runtime.calls.filter(({ mcpServer }) => mcpServer === own).length;
  await until(() => (counted.get(own) ?? 0) >= made);
  expect(counted.get(own)).toBe(made);
  await consumer.stop();
  await backend.close();
});

test('a call in progress uses the logging level that is set at another remote-mcp', async () => {
  const session = await openSession(urls.A, key);
  const said = Promise.withResolvers<void>();
  platform.runtime.answer(async (_call, request) => {
    await notify(request, 'notifications/message', { level: 'info', data: 'before' });
    await said.promise;
    await notify(request, 'notifications/message', { level: 'info', data: 'after' });
    return result({ content: [] });
  });
  const body = rpc('tools/call', { name: 'read', arguments: {} });
  const answer = await openStream(urls.A, { key, session, method: 'POST', body });
  await until(() => answer.messages.length === 1);
  expect((await ask('B', session, 'logging/setLevel', { level: 'error' })).status).toBe(200);
  // A later change at A shows that A has read B's change.
  expect(isGood(await call('A', session, 'load_skill', { skill: 'reading' }))).toBe(true);
  said.resolve();
  await answer.closed;
  expect(answer.text()).not.toContain('after');
  platform.runtime.answer(async () => result({ content: [] }));
});

test('concurrent changes of a session at both lose nothing', async () => {
  const names = Array.from({ length: 24 }, (_, at) => `many-${at}`);
  const skills = [];
  for (const name of names) skills.push(await workspace.skill(name, []));
  await workspace.role('Many', skills);
  const session = await openSession(urls.A, key);
  const known = async (at: Replica) =>
    (await call(at, session, 'list_skills', { query: 'many-' })).body.result.content[0].text as string;
  for (const at of both) await until(async () => (await known(at)).startsWith('24 skills'));
  const loaded = await Promise.all(
    names.map((skill, at) => call(both[at % 2] ?? 'A', session, 'load_skill', { skill })),
  );
  for (const answer of loaded) expect(answer.text).not.toMatch(/isError|"error"/);
  for (const at of both) await until(async () => (await known(at)).split(', loaded').length === 25);
});

test('a session stays in use while it is used at any remote-mcp', async () => {
  const idleMs = 1200;
  const env = { SVC_SESSION_IDLE_TIMEOUT_MS: String(idleMs) };
  const [one, other] = [await platform.startAnother(env), await platform.startAnother(env)];
  const session = await openSession(`${one.url}/mcp`, key);
  const list = (url: string | null) => send(`${url}/mcp`, { key, session, body: rpc('tools/list') });
  expect((await list(other.url)).status).toBe(200);
  const startedAt = performance.now();
  await until(async () => {
    expect((await list(other.url)).status).toBe(200);
    return performance.now() - startedAt > idleMs * 2;
  });
  expect((await list(one.url)).status).toBe(200);
});
