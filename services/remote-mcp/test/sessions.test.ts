import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, ping, rpc, send } from './raw.ts';
import { tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let key: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  key = (await workspace.key('agent')).text;
});
afterAll(() => platform.stop());

const listWith = (session: string | undefined, url = platform.mcpUrl, by = key) =>
  send(url, { key: by, session, body: rpc('tools/list') });

describe('a request', () => {
  test('without a session is refused with 400, unless it is initialize or ping', async () => {
    for (const body of [rpc('tools/list'), rpc('nonsense'), { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
      const answer = await send(platform.mcpUrl, { key, body });
      expect([answer.status, answer.body.error.code]).toEqual([400, -32600]);
    }
    for (const method of ['GET', 'DELETE']) {
      const headers = { accept: 'text/event-stream' };
      expect((await send(platform.mcpUrl, { method, key, headers })).status).toBe(400);
    }
  });

  test('of an unknown session is refused with 404, whatever its method', async () => {
    for (const session of ['x', 'A'.repeat(32), '../../etc', 'A'.repeat(5000)]) {
      for (const body of [ping, rpc('tools/list'), { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
        const answer = await send(platform.mcpUrl, { key, session, body });
        expect([answer.status, answer.body.error.data.code]).toEqual([404, 'not_found']);
      }
    }
  });

  test("of another key's session is refused with 404, also within the same workspace", async () => {
    const session = await openSession(platform.mcpUrl, key);
    const other = (await workspace.key('other')).text;
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { body: ping } : {};
      const headers = method === 'GET' ? { accept: 'text/event-stream' } : {};
      expect((await send(platform.mcpUrl, { method, key: other, session, headers, ...body })).status).toBe(404);
    }
    expect((await listWith(session)).status).toBe(200);
  });

  test('to initialize with the id of an old session opens a new one', async () => {
    const answer = await send(platform.mcpUrl, {
      key,
      session: 'A'.repeat(32),
      body: rpc('initialize', { protocolVersion: '2025-11-25' }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('mcp-session-id')).toMatch(/^[0-9A-Za-z]{32}$/);
  });
});

test('DELETE ends a session, its streams and its calls', async () => {
  const session = await openSession(platform.mcpUrl, key);
  const stream = await openStream(platform.mcpUrl, { key, session });
  await workspace.mcpServer('hanging', [tool('hang')]);
  await workspace.role('Hanging', [await workspace.skill('hanging', ['hanging/hang'])]);
  const hang = () => send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'hang' }) });
  await until(async () => (await hang()).body.result?.content !== undefined);
  const before = platform.runtime.calls.length;
  platform.runtime.answer(() => new Promise(() => undefined));
  const underWay = hang();
  await until(() => platform.runtime.calls.length > before);
  expect((await send(platform.mcpUrl, { method: 'DELETE', key, session })).status).toBe(204);
  await stream.closed;
  expect((await underWay).text).toBe('');
  expect((await listWith(session)).status).toBe(404);
  expect((await send(platform.mcpUrl, { method: 'DELETE', key, session })).status).toBe(404);
});

describe('streams', () => {
  test('a session has at most four, and another one replaces the oldest', async () => {
    const session = await openSession(platform.mcpUrl, key);
    const streams = [];
    for (let i = 0; i < 5; i++) streams.push(await openStream(platform.mcpUrl, { key, session }));
    await streams[0]?.closed;
    for (const stream of streams.slice(1)) stream.close();
  });

  test('end when their key is revoked, and others stay', async () => {
    const revoked = await workspace.key('revoked while listening');
    const session = await openSession(platform.mcpUrl, revoked.text);
    const stream = await openStream(platform.mcpUrl, { key: revoked.text, session });
    const other = await openStream(platform.mcpUrl, { key, session: await openSession(platform.mcpUrl, key) });
    await workspace.revoke(revoked.id);
    await stream.closed;
    let isClosed = false;
    void other.closed.then(() => {
      isClosed = true;
    });
    await listWith(await openSession(platform.mcpUrl, key));
    expect(isClosed).toBe(false);
    other.close();
  });

  test('announce a change that happened without a listener, also before the first request', async () => {
    const another = await platform.startAnother();
    const session = await openSession(platform.mcpUrl, key);
    const stream = await openStream(`${another.url}/mcp`, { key, session });
    await until(() => stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
    stream.close();
  });

  test('can be had as events only', async () => {
    const session = await openSession(platform.mcpUrl, key);
    const headers = { accept: 'application/json' };
    expect((await send(platform.mcpUrl, { method: 'GET', key, session, headers })).status).toBe(406);
  });
});

describe('SVC_SESSION_IDLE_TIMEOUT_MS', () => {
  test('ends a session that is idle for longer, and none that is used or has an open stream', async () => {
    const idleMs = 600;
    const short = await platform.startAnother({ SVC_SESSION_IDLE_TIMEOUT_MS: String(idleMs) });
    const url = `${short.url}/mcp`;
    const [idle, used, listening] = await Promise.all([1, 2, 3].map(() => openSession(url, key)));
    const stream = await openStream(url, { key, session: listening ?? '' });
    const startedAt = performance.now();
    await until(async () => {
      expect((await listWith(used, url)).status).toBe(200);
      return performance.now() - startedAt > idleMs * 2;
    });
    expect((await listWith(idle, url)).status).toBe(404);
    expect((await listWith(listening, url)).status).toBe(200);
    // Its record was renewed meanwhile, so that other remote-mcps know that it is in use.
    const elsewhere = await platform.startAnother({ SVC_SESSION_IDLE_TIMEOUT_MS: String(idleMs) });
    expect((await listWith(used, `${elsewhere.url}/mcp`)).status).toBe(200);
    stream.close();
    const closedAt = performance.now();
    await until(() => performance.now() - closedAt > idleMs * 1.5);
    expect((await listWith(listening, url)).status).toBe(404);
  });
});

describe('another remote-mcp', () => {
  test('continues a session with its loaded skills, and learns of its end', async () => {
    const another = await platform.startAnother();
    const [here, there] = [platform.mcpUrl, `${another.url}/mcp`];
    await workspace.mcpServer('files', []);
    const skill = await workspace.skill('reading', []);
    await workspace.role('Reader', [skill]);
    const session = await openSession(here, key);
    const other = (await workspace.key('elsewhere')).text;
    expect((await listWith(session, there, other)).status).toBe(404);
    expect((await listWith(session, there)).status).toBe(200);
    const loadIn = (url: string) =>
      send(url, { key, session, body: rpc('tools/call', { name: 'load_skill', arguments: { skill: 'reading' } }) });
    const listIn = async (url: string) => {
      const body = rpc('tools/call', { name: 'list_skills', arguments: {} });
      return (await send(url, { key, session, body })).body.result.content[0].text;
    };
    await until(async () => (await listIn(here)).includes('reading'));
    await until(async () => (await listIn(there)).includes('reading'));
    expect(await listIn(there)).not.toMatch(/loaded/);
    expect((await loadIn(here)).body.result.isError).toBeUndefined();
    await until(async () => /loaded/.test(await listIn(there)));
    expect((await send(there, { method: 'DELETE', key, session })).status).toBe(204);
    await until(async () => (await listWith(session, here)).status === 404);
  });

  test('keeps both skills when two are loaded at once', async () => {
    const another = await platform.startAnother();
    const urls = [platform.mcpUrl, `${another.url}/mcp`];
    const names = Array.from({ length: 6 }, (_, i) => `both-${i}`);
    const skills = [];
    for (const name of names) skills.push(await workspace.skill(name, []));
    await workspace.role('Both', skills);
    const session = await openSession(platform.mcpUrl, key);
    const call = (url: string, name: string, args: object) =>
      send(url, { key, session, body: rpc('tools/call', { name, arguments: args }) });
    const listed = async (url: string) =>
      (await call(url, 'list_skills', { query: 'both-' })).body.result.content[0].text as string;
    for (const url of urls) await until(async () => (await listed(url)).startsWith('6 skills'));
    const answers = await Promise.all(names.map((name, i) => call(urls[i % 2] ?? '', 'load_skill', { skill: name })));
    for (const { body } of answers) expect(body.result.isError).toBeUndefined();
    for (const url of urls) await until(async () => (await listed(url)).split(', loaded').length === 7);
  });
});

test('a session outlives its remote-mcp, and its idle time counts from its last use', async () => {
  const idleMs = 4000;
  const env = { SVC_SESSION_IDLE_TIMEOUT_MS: String(idleMs) };
  const [first, second] = [await platform.startAnother(env), await platform.startAnother(env)];
  const openedAt = performance.now();
  const since = () => performance.now() - openedAt;
  const session = await openSession(`${first.url}/mcp`, key);
  // The session is used again before a renewal of its record is due, so only the stop records this use.
  await until(async () => (await listWith(session, `${first.url}/mcp`)).status === 200 && since() > idleMs / 5);
  await first.stop();
  await until(() => since() > idleMs + 50);
  expect((await listWith(session, `${second.url}/mcp`)).status).toBe(200);
});
