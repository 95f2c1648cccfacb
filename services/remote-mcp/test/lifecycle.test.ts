import { describe, expect, test } from 'vitest';
import { streams } from '../../contracts/bus/subjects.ts';
import { newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { startHub } from '../../kit/bus/start.ts';
import { startRemoteMcp } from '../start.ts';
import { lossy } from './lossy-hub.ts';
import { startPlatform, until } from './platform.ts';
import { isGood, openSession, ping, rpc, send } from './raw.ts';
import { result, tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

const silent = { write: () => undefined };
const env = { SYSTEM_KEY: newKey('system').reveal(), BUS_SERVERS: 'inproc:', REMOTE_PORT: '0' };

describe('without a backend', () => {
  test('it is alive, reports the missing backend, and refuses no key because of it', async () => {
    const hub = await startHub({ file: null });
    const service = await startRemoteMcp(env, { hub, version: '1', log: silent });
    const get = (path: string) => send(`${service.url}${path}`, { method: 'GET' });
    expect((await get('/health')).status).toBe(200);
    const ready = await get('/ready');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'not ready', missing: [expect.stringMatching(/^bus: (not connected yet|No backend is connected)/)] },
    ]);
    await until(async () => /No backend/.test((await get('/ready')).text));
    const key = newKey('user').reveal();
    const answer = await send(`${service.url}/mcp`, { key, body: ping });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await send(`${service.url}/mcp`, { body: ping })).status).toBe(401);
    await service.stop();
    await hub.stop();
  });

  test('it serves the cached catalogue: lists and calls continue, and it catches up with changes afterwards', async () => {
    const platform = await startPlatform();
    const workspace = await TestWorkspace.create(platform, 'acme');
    await workspace.mcpServer('files', [tool('echo')]);
    await workspace.role('All', [await workspace.skill('all', ['files/echo'])]);
    const { text: key } = await workspace.key('agent');
    const session = await openSession(platform.mcpUrl, key);
    const call = (name: string, args: object = {}) =>
      send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name, arguments: args }) });
    await until(async () => isGood(await call('echo')));
    await platform.stopBackend();
    expect((await call('load_skill', { skill: 'all' })).body.result.isError).toBeUndefined();
    expect((await call('echo')).body.result.content).toHaveLength(1);
    const fresh = await openSession(platform.mcpUrl, key);
    expect(
      (await send(platform.mcpUrl, { key, session: fresh, body: rpc('tools/list') })).body.result.tools,
    ).toHaveLength(6);
    await send(platform.mcpUrl, { key, session, body: rpc('tools/list') });
    const stream = await openStream(platform.mcpUrl, { key, session });
    platform.runtime.stopBeating();
    await until(() => stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
    expect((await call('echo')).text).toMatch(
      /its runtime \\"cloud\\" has stopped answering.*Repair: Start the runtime again/,
    );
    expect((await call('list_skills')).text).toMatch(/Not available, loaded\. MCP server \\"files\\" is Disconnected/);
    platform.runtime.beat(60_000);
    await until(async () => isGood(await call('echo')));
    stream.close();
    await platform.startBackend();
    await workspace.role('Later', [await workspace.skill('latest', [])]);
    await until(async () => (await call('list_skills')).text.includes('latest'), 20_000);
    await platform.stop();
  }, 60_000);
});

test('an unknown system key is reported at /ready', async () => {
  const platform = await startPlatform();
  const service = await startRemoteMcp(env, { hub: platform.hub, version: '1', log: silent });
  const ready = () => send(`${service.url}/ready`, { method: 'GET' });
  await until(async () => (await ready()).text.includes('SYSTEM_KEY is not known'));
  expect((await ready()).status).toBe(503);
  await service.stop();
  await platform.stop();
});

test('while the bus is lost, no key is refused as wrong', async () => {
  const platform = await startPlatform();
  const workspace = await TestWorkspace.create(platform, 'acme');
  const { text: key } = await workspace.key('agent');
  const session = await openSession(platform.mcpUrl, key);
  const other = (await workspace.key('other')).text;
  await platform.hub.stop();
  const status = async (by: string, body: object) => (await send(platform.mcpUrl, { key: by, session, body })).status;
  expect((await send(platform.mcpUrl, { key, body: ping })).status).toBe(200);
  expect(await status(other, ping)).toBe(503);
  expect((await send(`${platform.url}/ready`, { method: 'GET' })).status).toBe(503);
  expect((await send(`${platform.url}/health`, { method: 'GET' })).status).toBe(200);
  await platform.stop();
});

test('it catches up with missed changes when the bus returns', async () => {
  const platform = await startPlatform();
  const hub = lossy(platform.hub);
  const url = `${(await platform.startAnother({}, hub)).url}/mcp`;
  const workspace = await TestWorkspace.create(platform, 'acme');
  const [stays, revoked] = [await workspace.key('stays'), await workspace.key('revoked')];
  const [session, ended] = [await openSession(url, stays.text), await openSession(url, stays.text)];
  const listSkills = () =>
    send(url, { key: stays.text, session, body: rpc('tools/call', { name: 'list_skills', arguments: {} }) });
  const pingWith = async (key: string) => (await send(url, { key, body: ping })).status;
  expect([(await listSkills()).status, await pingWith(revoked.text)]).toEqual([200, 200]);
  const listening = async (by: string, of: string) => openStream(url, { key: by, session: of });
  const left = await listening(stays.text, session);
  let isLeft = true;
  void left.closed.then(() => {
    isLeft = false;
  });
  const gone = [
    await listening(revoked.text, await openSession(url, revoked.text)),
    await listening(stays.text, ended),
  ];
  hub.lose();
  await workspace.revoke(revoked.id);
  await workspace.role('New', [await workspace.skill('new', [])]);
  expect((await send(platform.mcpUrl, { method: 'DELETE', key: stays.text, session: ended })).status).toBe(204);
  expect((await send(url, { key: stays.text, session: ended, body: ping })).status).toBe(200);
  expect(await pingWith(revoked.text)).toBe(200);
  hub.restore();
  expect(await pingWith(revoked.text)).toBe(401);
  expect((await send(url, { key: stays.text, session: ended, body: ping })).status).toBe(404);
  for (const { closed } of gone) await closed;
  await until(async () => (await listSkills()).text.includes('new'));
  expect(isLeft).toBe(true);
  left.close();
  await platform.stop();
});

test('a stop lets a call in progress finish, ends streams, and accepts no new calls', async () => {
  const platform = await startPlatform();
  const backendBus = await platform.hub.connect({ kind: 'backend' }, newProcessId());
  let counted = 0;
  const consumer = backendBus.stream(streams.usage).consume('test', async (batch) => {
    for (const one of batch) {
      for (const { call } of JSON.parse(Buffer.from(one).toString())) if (call?.outcome === 'ok') counted += call.calls;
    }
  });
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('slow')]);
  await workspace.role('All', [await workspace.skill('all', ['files/slow'])]);
  const { text: key } = await workspace.key('agent');
  const session = await openSession(platform.mcpUrl, key);
  const call = () => send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'slow' }) });
  await until(async () => isGood(await call()));
  let finish: () => void = () => undefined;
  platform.runtime.answer(
    () =>
      new Promise((resolve) => {
        finish = () => resolve(result({ content: [] }));
      }),
  );
  const before = platform.runtime.calls.length;
  const stream = await openStream(platform.mcpUrl, { key, session });
  const underWay = call();
  await until(() => platform.runtime.calls.length > before);
  const stopped = platform.remoteMcp.stop();
  await stream.closed;
  expect(stream.text()).toMatch(/^retry: [12]\d{3}\n\n$/m);
  const isRefused = (url: string) =>
    fetch(url).then(
      () => false,
      () => true,
    );
  await until(() => isRefused(`${platform.url}/health`));
  finish();
  expect((await underWay).body.result).toEqual({ content: [] });
  await stopped;
  // It was the last call to be counted.
  await until(() => counted === platform.runtime.calls.length);
  await consumer.stop();
  await backendBus.close();
  await platform.stop();
});

test('a call that outlasts the stop of a remote-mcp is ended with an error', async () => {
  const platform = await startPlatform();
  const drainMs = 50;
  const another = await platform.startAnother({}, platform.hub, drainMs);
  const url = `${another.url}/mcp`;
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('slow')]);
  await workspace.role('All', [await workspace.skill('all', ['files/slow'])]);
  const { text: key } = await workspace.key('agent');
  const session = await openSession(url, key);
  const call = () => send(url, { key, session, body: rpc('tools/call', { name: 'slow' }) });
  await until(async () => isGood(await call()));
  const before = platform.runtime.calls.length;
  let wasEnded = false;
  platform.runtime.answer((_call, { signal }) => {
    signal.addEventListener('abort', {
      handleEvent: () => {
        wasEnded = true;
      },
    });
    return new Promise(() => undefined);
  });
  const underWay = call();
  await until(() => platform.runtime.calls.length > before);
  await another.stop();
  const { status, body } = await underWay;
  expect([status, body.error]).toEqual([
    200,
    {
      code: -31504,
      message: expect.stringMatching(/not answered within 0.05 s: it may have been carried out or not/),
      data: { code: 'timeout', hint: expect.stringMatching(/only if doing it twice does no harm/) },
    },
  ]);
  await until(() => wasEnded);
  await platform.stop();
});

test.each([
  ['RUNTIME_KEY', { RUNTIME_KEY: newKey('runtime').reveal() }],
  ['RUNTIME_NAME', { RUNTIME_NAME: 'cloud' }],
  ['SYSTEM_KEY', { SYSTEM_KEY: '' }],
  ['REMOTE_PORT', { REMOTE_PORT: '' }],
])('it does not start with a wrong %s, and says so', async (name, wrong) => {
  const starting = startRemoteMcp({ ...env, ...wrong }, { hub: null, version: '1', log: silent });
  await expect(starting).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(name) });
});
