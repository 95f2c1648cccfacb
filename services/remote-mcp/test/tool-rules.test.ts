import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpServerId, RoleId, SkillId } from '../../contracts/ids.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, rpc, send } from './raw.ts';
import { tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

const constantCount = 6;

let platform: Platform;
let workspace: TestWorkspace;
let crm: McpServerId;
let skill: SkillId;
let count = 0;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  crm = await workspace.mcpServer('crm', [
    tool('find_user', { annotations: { readOnlyHint: true } }),
    tool('list_users'),
    tool('delete_user', { annotations: { readOnlyHint: false, destructiveHint: true } }),
  ]);
  skill = await workspace.skill('users', ['crm/find_user', 'crm/list_users', 'crm/delete_user']);
});
afterAll(() => platform.stop());

const rule = (effect: 'allow' | 'deny', pattern: string) => ({ effect, mcpServer: 'crm', tool: pattern });

/** An agent with a role of its own, which has these limits. */
async function agentWith(limits: object, more: { all?: boolean } = {}) {
  const name = `role-${++count}`;
  const role = await workspace.role(name, [skill], limits);
  const disclosure = more.all ? { disclosure: 'all' as const } : {};
  return await agentOf([role], { name, ...disclosure });
}

async function agentOf(roles: readonly RoleId[], { name = `key-${++count}`, query = '', ...more } = {}) {
  const { text: key, id } = await workspace.key(name, { roles, ...more });
  const address = platform.mcpUrl + query;
  const session = await openSession(address, key);
  const ask = async (method: string, params: object = {}) =>
    (await send(platform.mcpUrl, { key, session, body: rpc(method, params) })).body;
  const say = async (tool: string, args: object = {}): Promise<string> => {
    const { result, error } = await ask('tools/call', { name: tool, arguments: args });
    return error === undefined
      ? result.content.map(({ text }: { text: string }) => text).join('\n')
      : `error: ${error.message}`;
  };
  const listed = async (): Promise<readonly string[]> =>
    (await ask('tools/list')).result.tools.slice(constantCount).map((one: { name: string }) => one.name);
  await until(async () => (await say('list_skills')).includes('"users"'));
  return { id, key, session, name, role: roles[0] as RoleId, ask, say, listed };
}

const ofName = (name: string, why: string, of = 'delete_user') =>
  `The role "${name}" does not allow the tool "${of}" (rule: ${why}).`;

describe('a tool that the rules of the only role refuse', () => {
  test.each([
    ['deny', { rules: [rule('deny', 'delete_*')] }, 'deny crm/delete_*', ['find_user', 'list_users']],
    [
      'allow',
      { rules: [rule('allow', '*_users'), rule('allow', 'find_user')] },
      'allowed tools only',
      ['find_user', 'list_users'],
    ],
    [
      'deny over allow',
      { rules: [rule('allow', '*'), rule('deny', 'delete_user')] },
      'deny crm/delete_user',
      ['find_user', 'list_users'],
    ],
    ['read-only', { readOnly: true }, 'read-only', ['find_user']],
  ])('is neither loaded, listed nor called: %s', async (_what, limits, why, left) => {
    const before = platform.runtime.calls.length;
    const agent = await agentWith(limits);
    const hidden = 3 - left.length;
    const loaded = await agent.say('load_skill', { skill: 'users' });
    expect(loaded).not.toContain('delete_user');
    expect(loaded).toContain(`The rules of the role "${agent.name}" hide ${hidden} of its tools.`);
    expect(await agent.say('list_skills')).toContain(`Available, ${left.length} tool`);
    expect(await agent.listed()).toEqual(left);
    expect(await agent.say('delete_user')).toBe(ofName(agent.name, why));
    expect(await agent.say('call_tool', { name: 'delete_user', arguments: {} })).toBe(ofName(agent.name, why));
    expect(platform.runtime.calls.length).toBe(before);
    expect(await agent.say('find_user')).not.toContain('does not allow');
  });

  test('stays hidden from a key that discloses everything, and from preloads', async () => {
    const agent = await agentWith({ readOnly: true }, { all: true });
    expect(await agent.listed()).toEqual(['find_user']);
    for (const query of [`?skillIds=users`, `?roleIds=${agent.name}`]) {
      const other = await agentOf([agent.role], { query });
      expect(await other.listed()).toEqual(['find_user']);
      expect(await other.say('delete_user')).toBe(ofName(agent.name, 'read-only'));
    }
  });

  test('a tool without the hint is not read-only', async () => {
    const agent = await agentWith({ readOnly: true });
    expect(await agent.say('list_users')).toBe(ofName(agent.name, 'read-only', 'list_users'));
  });
});

test('a key without the role learns nothing of its rules', async () => {
  await workspace.role('Hidden', [skill], { rules: [rule('deny', '*')] });
  const other = await workspace.skill('other', []);
  const role = await workspace.role(`empty-${++count}`, [other]);
  const { text: key } = await workspace.key('outside', { roles: [role] });
  const session = await openSession(platform.mcpUrl, key);
  const { body } = await send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'delete_user' }) });
  expect(JSON.stringify(body)).toContain('Unknown tool');
  expect(JSON.stringify(body)).not.toContain('Hidden');
});

test('one active role that lets the tool pass is enough, and counts only while it is active', async () => {
  const [strict, open] = [`strict-${++count}`, `open-${count}`];
  const roles = [await workspace.role(strict, [skill], { readOnly: true }), await workspace.role(open, [skill])];
  const agent = await agentOf(roles);
  await agent.say('load_skill', { skill: 'users' });
  // The second role may arrive after the first one.
  await until(async () => (await agent.listed()).length === 3);
  expect(await agent.say('delete_user')).not.toContain('does not allow');
  await agent.say('deactivate_role', { role: open });
  expect(await agent.listed()).toEqual(['find_user']);
  expect(await agent.say('delete_user')).toBe(
    `${ofName(strict, 'read-only')} Activate a role that allows it with activate_role: "${open}".`,
  );
});

test('a change of the rules reaches an open session, which is told of its new list', async () => {
  const agent = await agentWith({});
  await agent.say('load_skill', { skill: 'users' });
  expect(await agent.listed()).toEqual(['delete_user', 'find_user', 'list_users']);
  const stream = await openStream(platform.mcpUrl, { key: agent.key, session: agent.session });
  await workspace.updateRole(agent.role, { rules: [rule('deny', 'delete_user')] });
  await until(async () => (await agent.listed()).length === 2);
  expect(await agent.say('delete_user')).toBe(ofName(agent.name, 'deny crm/delete_user'));
  await until(async () => stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
  stream.close();
  await workspace.updateRole(agent.role, { rules: [] });
  await until(async () => (await agent.listed()).length === 3);
});

test('a tool that loses its hint is hidden from read-only roles', async () => {
  const agent = await agentWith({ readOnly: true }, { all: true });
  await platform.runtime.report(crm, {}, [
    tool('find_user'),
    tool('list_users', { annotations: { readOnlyHint: true } }),
  ]);
  await until(async () => (await agent.listed()).join() === 'list_users');
  expect(await agent.say('find_user')).toBe(ofName(agent.name, 'read-only', 'find_user'));
});
