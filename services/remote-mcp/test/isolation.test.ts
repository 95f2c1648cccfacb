import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { constantTools } from '../../contracts/constant-tools.ts';
import type { McpServerId, RoleId, SkillId } from '../../contracts/ids.ts';
import { notificationMethods, requestMethods } from '../wire/revision-2025-11-25/methods.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

/** One of two workspaces that look the same from within. */
interface Side {
  readonly name: string;
  readonly workspace: TestWorkspace;
  readonly server: McpServerId;
  readonly skill: SkillId;
  readonly role: RoleId;
  readonly key: string;
  readonly session: string;
}

let platform: Platform;
let mine: Side;
let theirs: Side;

beforeAll(async () => {
  platform = await startPlatform();
  [mine, theirs] = await Promise.all([side('mine'), side('theirs')]);
});
afterAll(() => platform.stop());

async function side(name: string): Promise<Side> {
  const workspace = await TestWorkspace.create(platform, name);
  const server = await workspace.mcpServer('files', [
    tool('read', { description: `reads ${name}` }),
    tool(`only_${name}`),
  ]);
  const refs = ['files/read', `files/only_${name}`];
  const skill = await workspace.skill('reading', refs, {
    description: `skill of ${name}`,
    instructions: `how ${name} reads`,
  });
  const role = await workspace.role('Reader', [skill], { description: `role of ${name}` });
  const { text: key } = await workspace.key('agent');
  const session = await openSession(platform.mcpUrl, key);
  await until(async () =>
    (await ask({ key, session }, 'tools/call', { name: 'list_skills' })).text.includes('reading'),
  );
  return { name, workspace, server, skill, role, key, session };
}

const ask = ({ key, session }: Pick<Side, 'key' | 'session'>, method: string, params: object = {}) =>
  send(platform.mcpUrl, { key, session, body: rpc(method, params) });

/** Names of the other workspace that a request may carry, by method. An unlisted method fails. */
const attempts: Readonly<Record<string, () => readonly object[]>> = {
  initialize: () => [{ protocolVersion: '2025-11-25' }],
  ping: () => [{}],
  'tools/list': () => [{}, { cursor: Buffer.from('only_theirs').toString('base64url') }],
  'tools/call': () => [
    { name: 'only_theirs', arguments: {} },
    { name: 'call_tool', arguments: { name: 'only_theirs', arguments: {} } },
    { name: 'load_skill', arguments: { skill: theirs.skill } },
    { name: 'activate_role', arguments: { role: theirs.role } },
    { name: 'deactivate_role', arguments: { role: theirs.role } },
    { name: 'list_skills', arguments: { query: 'theirs' } },
    { name: 'read_skill_file', arguments: { skill: theirs.skill, path: 'a' } },
    { name: 'read', arguments: {} },
    { name: 'load_skill', arguments: { skill: 'reading' } },
  ],
  'logging/setLevel': () => [{ level: 'info' }],
};

test('every constant tool is given names of the other workspace', () => {
  expect(attempts['tools/call']?.()).toEqual(
    expect.arrayContaining(Object.values(constantTools).map((name) => expect.objectContaining({ name }))),
  );
});

test.each([...requestMethods.keys()])('%s reveals and changes nothing of another workspace', async (method) => {
  const known = requestMethods.get(method);
  const params = attempts[method]?.() ?? (known?.kind === 'later' ? [{}] : null);
  expect(params, `nobody said what ${method} could carry`).not.toBeNull();
  for (const one of params ?? []) {
    const before = platform.runtime.calls.length;
    const { text } = await ask(mine, method, one);
    // The refusal repeats the requested name, and nothing else of the other workspace.
    const echoed = JSON.stringify(one);
    for (const secret of [
      'reads theirs',
      'skill of theirs',
      'how theirs',
      'role of theirs',
      theirs.server,
      theirs.skill,
      theirs.role,
    ]) {
      if (!echoed.includes(secret)) expect(text).not.toContain(secret);
    }
    for (const call of platform.runtime.calls.slice(before)) expect(call.mcpServer).toBe(mine.server);
  }
});

test('ids of the other workspace are refused like ids that are nowhere', async () => {
  const refusals = [];
  for (const query of [`skillIds=${theirs.skill}`, `roleIds=${theirs.role}`]) {
    const body = rpc('initialize', { protocolVersion: '2025-11-25' });
    const answer = await send(`${platform.mcpUrl}?${query}`, { key: mine.key, body });
    refusals.push([answer.status, answer.body.error.message.replace(/"[^"]*"/, '"…"')]);
  }
  expect(refusals).toEqual([
    [403, '"…" in skillIds is not within this API key.'],
    [403, '"…" in roleIds is not within this API key.'],
  ]);
  const misplaced = await send(`${platform.mcpUrl}?skillIds=${mine.key}`, {
    key: mine.key,
    body: rpc('initialize', { protocolVersion: '2025-11-25' }),
  });
  expect(misplaced.body.error.message).toBe('Something in skillIds is not within this API key.');
  const unknown = (await ask(mine, 'tools/call', { name: 'only_theirs' })).body.error;
  const nowhere = (await ask(mine, 'tools/call', { name: 'only_nowhere' })).body.error;
  expect(unknown).toEqual({ ...nowhere, message: nowhere.message.replace('only_nowhere', 'only_theirs') });
});

describe('a session of the other workspace is as unknown as a made-up one', () => {
  const inBoth = (request: object) =>
    Promise.all(
      [theirs.session, 'A'.repeat(32)].map((session) => send(platform.mcpUrl, { key: mine.key, session, ...request })),
    );

  test.each([...requestMethods.keys(), ...notificationMethods.keys()])('for %s', async (method) => {
    if (method === 'initialize') return;
    const body = requestMethods.has(method) ? rpc(method, {}, 1) : { jsonrpc: '2.0', method, params: {} };
    const [inTheirs, inNone] = await inBoth({ body });
    expect([inTheirs?.status, inTheirs?.text]).toEqual([404, inNone?.text]);
  });

  test.each(['GET', 'DELETE'])('for %s, and the session continues', async (method) => {
    const answers = await inBoth({ method, headers: { accept: 'text/event-stream' } });
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect((await ask(theirs, 'tools/list')).status).toBe(200);
  });
});

test('a change of the other workspace is announced to its own sessions alone', async () => {
  const streams = [];
  for (const one of [mine, theirs]) {
    await ask(one, 'tools/call', { name: 'load_skill', arguments: { skill: 'reading' } });
    await ask(one, 'tools/list');
    streams.push(await openStream(platform.mcpUrl, one));
  }
  const [ofMine, ofTheirs] = streams;
  await theirs.workspace.updateRole(theirs.role, { enabled: false });
  await until(() => ofTheirs?.messages.some(({ method }) => method === 'notifications/tools/list_changed') ?? false);
  expect(ofMine?.messages).toEqual([]);
  await theirs.workspace.updateRole(theirs.role, { enabled: true });
  for (const stream of streams) stream.close();
});

test('a key sees its own roles only', async () => {
  const hidden = await mine.workspace.skill('hidden', [`files/only_mine`], { description: 'not for everyone' });
  const role = await mine.workspace.role('Hidden', [hidden]);
  const narrow = await mine.workspace.key('narrow', { roles: [mine.role] });
  const wide = await mine.workspace.key('wide', { roles: [mine.role, role] });
  const open = async (key: string) => ({ key, session: await openSession(platform.mcpUrl, key) });
  const [one, all] = [await open(narrow.text), await open(wide.text)];
  await until(async () => (await ask(all, 'tools/call', { name: 'list_skills' })).text.includes('hidden'));
  expect((await ask(one, 'tools/call', { name: 'list_skills' })).text).not.toMatch(/hidden|not for everyone/i);
  expect((await ask(one, 'tools/call', { name: 'load_skill', arguments: { skill: hidden } })).body.result.isError).toBe(
    true,
  );
});

test('a tool that is only in roles outside the key is as unknown as a made-up one', async () => {
  await mine.workspace.mcpServer('vault', [tool('open_vault')]);
  await mine.workspace.role('Vault', [await mine.workspace.skill('vault', ['vault/open_vault'])]);
  const narrow = await mine.workspace.key('no vault', { roles: [mine.role] });
  const wide = { key: mine.key, session: mine.session };
  await until(async () => isGood(await ask(wide, 'tools/call', { name: 'open_vault' })));
  const session = await openSession(platform.mcpUrl, narrow.text);
  const answer = await ask({ key: narrow.text, session }, 'tools/call', { name: 'open_vault' });
  expect(answer.body.error).toMatchObject({ code: -32602, message: 'Unknown tool: "open_vault"' });
});
