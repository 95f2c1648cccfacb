import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { constantTools } from '../../services/contracts/constant-tools.ts';
import { rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { notificationMethods, requestMethods } from '../../services/remote-mcp/wire/revision-2025-11-25/methods.ts';
import type { BackendClient } from '../client/backend-client.ts';
import type { Agent } from './agent.ts';
import { expectNothingOf, type Home, startTwoHomes, toolNames } from './homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * Two workspaces with same-named everything. An agent with a key of A says every method there is, with whatever of B it may name, and
 * neither sees nor calls nor ends anything of B.
 */
let platform: Platform;
let backend: BackendClient;
let a: Home;
let b: Home;
let agent: Agent;
let other: Agent;

beforeAll(async () => {
  ({ platform, backend, a, b } = await startTwoHomes());
  agent = await platform.connect(a.same.keyText);
  other = await platform.connect(b.same.keyText, `?skillIds=${b.same.skill}`);
  await agent.text('load_skill', { skill: 'same' });
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

const expectNothingOfB = (text: string, question?: string) => expectNothingOf(b, text, question);

const asA = (body: unknown, session = agent.session, query = '') =>
  send(`${platform.mcpUrl}${query}`, { key: a.same.keyText, session, body });
const callAsA = (name: string, args: object) => asA(rpc('tools/call', { name, arguments: args }));

async function expectToolError(name: string, args: object): Promise<void> {
  const { body, text } = await callAsA(name, args);
  expect([body.result?.isError ?? body.error?.code, name]).toEqual([expect.toBeOneOf([true, -32602]), name]);
  expectNothingOfB(text, name + JSON.stringify(args));
}

/** Every constant tool, given what is B's. */
const constant: Readonly<Record<string, () => Promise<void>>> = {
  [constantTools.listSkills]: async () => {
    for (const args of [{}, { query: b.own }, { query: b.mark }]) {
      expectNothingOfB(await agent.text('list_skills', args), JSON.stringify(args));
    }
    expect(await agent.text('list_skills')).toContain(a.mark);
  },
  [constantTools.loadSkill]: async () => {
    for (const skill of [b.same.skill, b.only.skill, b.own]) await expectToolError('load_skill', { skill });
  },
  [constantTools.readSkillFile]: async () => {
    for (const skill of [b.same.skill, b.only.skill, b.own]) {
      await expectToolError('read_skill_file', { skill, path: 'notes.md' });
    }
  },
  [constantTools.callTool]: async () => {
    for (const name of [`${b.own}_echo`, `${b.name}/echo`]) await expectToolError('call_tool', { name, arguments: {} });
    expect(await agent.text('call_tool', { name: 'get-env' })).toContain(a.mark);
  },
  [constantTools.activateRole]: async () => {
    for (const role of [b.same.role, b.own]) await expectToolError('activate_role', { role });
  },
  [constantTools.deactivateRole]: async () => {
    for (const role of [b.same.role, b.own]) await expectToolError('deactivate_role', { role });
  },
};

/** Every method that is offered, given what is B's. */
const methods: Readonly<Record<string, (() => Promise<void>) | 'names nothing'>> = {
  initialize: async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    for (const query of [
      `skillIds=${b.same.skill}`,
      `skillIds=${a.same.skill},${b.only.skill}`,
      `roleIds=${b.same.role}`,
    ]) {
      const answer = await asA(rpc('initialize', params), undefined, `?${query}`);
      expect([query, answer.status]).toEqual([query, 403]);
      expectNothingOfB(answer.text, query);
    }
    expectNothingOfB((await asA(rpc('initialize', params))).text);
  },
  ping: 'names nothing',
  'tools/list': async () => {
    const answer = await asA(rpc('tools/list'));
    expect(answer.body.result.tools.map(({ name }: { name: string }) => name)).toEqual([
      ...Object.values(constantTools),
      ...toolNames,
    ]);
    expectNothingOfB(answer.text);
  },
  'tools/call': async () => {
    const env = await agent.text('get-env');
    expect(env).toContain(a.mark);
    expectNothingOfB(env);
    await expectToolError(`${b.own}_echo`, {});
  },
  'logging/setLevel': 'names nothing',
  'notifications/cancelled': async () => {
    const seen: number[] = [];
    const call = other.client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.5, steps: 5 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    await until(() => seen.length > 0);
    const { id } = other.sent.findLast(({ method }) => method === 'tools/call') ?? {};
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
    expect((await asA(cancel)).status).toBe(202);
    expect((await asA(cancel, other.session)).status).toBe(404);
    expect(await call).toMatchObject({ content: [{ text: expect.stringContaining('completed') }] });
  },
  'notifications/initialized': 'names nothing',
  'notifications/progress': 'names nothing',
  'notifications/roots/list_changed': 'names nothing',
  'notifications/tasks/status': 'names nothing',
};
const every = [...requestMethods.keys(), ...notificationMethods.keys()];
/** A method to come is refused to everybody: it has no attempt here. */
const isLater = (name: string) => requestMethods.get(name)?.kind === 'later';
const unlistedOf = (names: readonly string[]) =>
  names.filter((name) => (name in methods || name in constant) === isLater(name));

test('every method and every constant tool is listed here, and an unlisted one is noticed', () => {
  expect(unlistedOf([...every, ...Object.values(constantTools)])).toEqual([]);
  expect(unlistedOf([...every, 'resources/steal', 'steal_skill'])).toEqual(['resources/steal', 'steal_skill']);
});

test.each([...every, ...Object.keys(constant)])('%s', async (name) => {
  const attempt = { ...methods, ...constant }[name];
  if (typeof attempt === 'function') return await attempt();
  const params = { uri: `skill://${b.own}`, name: b.own, taskId: b.same.mcpServer, level: 'info' };
  const isRequest = requestMethods.has(name);
  const { text } = await asA(isRequest ? rpc(name, params) : { jsonrpc: '2.0', method: name, params });
  expectNothingOfB(text);
});

test.each(every)('%s in a session of B is answered as for an unknown session', async (name) => {
  if (name === 'initialize') return;
  const body = requestMethods.has(name) ? rpc(name, {}, 1) : { jsonrpc: '2.0', method: name, params: {} };
  const [inTheirs, inNone] = [await asA(body, other.session), await asA(body, other.session.replaceAll(/./g, 'x'))];
  expect([inTheirs.status, inTheirs.text]).toEqual([404, inNone.text]);
});

test.each(['GET', 'DELETE'])('%s of a session of B finds none, and the session continues', async (method) => {
  const headers = { accept: 'text/event-stream' };
  const answer = await send(platform.mcpUrl, { method, key: a.same.keyText, session: other.session, headers });
  expect(answer.status).toBe(404);
  expect(await other.text('echo', { message: 'mine' })).toBe('Echo: mine');
});

test('changes in B are announced to B alone', async () => {
  const [told, toldToA] = [other.listChanges(), agent.listChanges()];
  const tools = `[{ mcpServer: "same", tool: "echo" }]`;
  await backend.query(
    `mutation { updateSkill(workspace: "${b.workspace}", id: "${b.same.skill}", input: { tools: ${tools} }) { id } }`,
    {},
    () => undefined,
  );
  await until(() => other.listChanges() > told);
  expect(agent.listChanges()).toBe(toldToA);
  expect(await agent.listToolNames()).toHaveLength(Object.values(constantTools).length + toolNames.length);
});
