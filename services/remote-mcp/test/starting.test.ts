import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ServerReport } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import type { Hub, RequestOptions } from '../../kit/bus/bus.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, rpc, send } from './raw.ts';
import { result, tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

/** A runtime's report about an MCP server that it has not started yet. */
const starting: Partial<ServerReport> = {
  status: 'Disconnected',
  health: 'red',
  reason: { code: 'starting', message: 'It is starting.', repair: 'Wait a moment.' },
};
const failed: Partial<ServerReport> = {
  status: 'Error',
  health: 'red',
  reason: { code: 'exited', message: 'It ended with exit code 1.', repair: 'Look at its log.' },
};

let platform: Platform;
let workspace: TestWorkspace;
let files: McpServerId;
let more: McpServerId;
let key: { text: string };
let session: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  files = await workspace.mcpServer('files', [tool('read')]);
  more = await workspace.mcpServer('more', [tool('write')]);
  await workspace.role('All', [await workspace.skill('both', ['files/read', 'more/write'])]);
  key = await workspace.key('agent');
  session = await openSession(platform.mcpUrl, key.text);
  platform.runtime.answer(async () => result({ content: [{ type: 'text', text: 'done' }] }));
});
afterAll(() => platform.stop());

beforeEach(async () => {
  await platform.runtime.report(more);
  await platform.runtime.report(files, starting);
  await until(async () => (await say('list_skills')).includes('MCP server "files" is Disconnected: It is starting.'));
});

const request = (method: string, params: object, id: number) =>
  send(platform.mcpUrl, { key: key.text, session, body: rpc(method, params, id) });
const agent = () => ({ key: key.text, session });
const call = (name: string, id = 1) => request('tools/call', { name, arguments: {} }, id);
const say = async (name: string): Promise<string> => (await call(name)).body.result.content[0].text;
const callsTo = (mcpServer: McpServerId) => platform.runtime.calls.filter((one) => one.mcpServer === mcpServer).length;

/** The real bus, which records the options of each call. */
function overheard(hub: Hub, asked: RequestOptions[]): Hub {
  return {
    connect: async (...who) => {
      const bus = await hub.connect(...who);
      const request = bus.request.bind(bus);
      bus.request = (subject, payload, options) => {
        if (subject.startsWith('svc.runtime.')) asked.push(options);
        return request(subject, payload, options);
      };
      return bus;
    },
    stop: () => hub.stop(),
  };
}

/** A call in progress: of two with one id, the second is refused at once. */
async function waiting(of: { key: string; session: string; url?: string }, params: object) {
  const body = rpc('tools/call', { arguments: {}, ...params });
  const twins = [1, 2].map(() => send(of.url ?? platform.mcpUrl, { ...of, body }));
  const refused = await Promise.race(twins.map(async (twin, index) => ({ index, error: (await twin).body.error })));
  expect(refused.error?.message).toMatch(/under way/);
  const answer = twins[1 - refused.index];
  if (answer === undefined) throw new Error('there were two');
  return { id: body.id, answer };
}

describe('while an MCP server is starting', () => {
  test('a call waits, and is answered as soon as it is Connected', async () => {
    const before = callsTo(files);
    const calls = [await waiting(agent(), { name: 'read' }), await waiting(agent(), { name: 'read' })];
    expect(callsTo(files)).toBe(before);
    await platform.runtime.report(files);
    for (const { answer } of calls)
      expect((await answer).body.result.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(callsTo(files)).toBe(before + 2);
  });

  test('the silence limit of a call starts after the wait', async () => {
    const asked: RequestOptions[] = [];
    const another = await platform.startAnother({}, overheard(platform.hub, asked));
    // It knows the catalogue, so the call waits only for the start.
    expect((await send(`${another.url}/mcp`, { ...agent(), body: rpc('tools/list') })).status).toBe(200);
    const { answer } = await waiting({ ...agent(), url: `${another.url}/mcp` }, { name: 'read' });
    await platform.runtime.report(files);
    expect((await answer).body.result.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([60_000]);
  });

  test('so does a call of another MCP server of the same skill (part 3, rule 1)', async () => {
    const before = callsTo(more);
    const { answer } = await waiting(agent(), { name: 'write' });
    expect(callsTo(more)).toBe(before);
    await platform.runtime.report(files);
    expect((await answer).body.result.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  test('and one through call_tool', async () => {
    const { answer } = await waiting(agent(), { name: 'call_tool', arguments: { name: 'read' } });
    await platform.runtime.report(files);
    expect((await answer).body.result.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  test('its tools are listed, and loading the skill names them', async () => {
    const loaded = await request('tools/call', { name: 'load_skill', arguments: { skill: 'both' } }, 40);
    expect(loaded.body.result.isError).toBeUndefined();
    expect(JSON.stringify(loaded.body.result.content)).toMatch(/the tool read.*It is starting/);
    const names = async () =>
      (await request('tools/list', {}, 41)).body.result.tools.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(expect.arrayContaining(['read', 'write']));
    await platform.runtime.report(files, failed);
    await until(async () => !(await names()).includes('read'));
  });

  test('a call gets the reason at once when it fails to start', async () => {
    const { answer } = await waiting(agent(), { name: 'read' });
    await platform.runtime.report(files, failed);
    const { isError, content } = (await answer).body.result;
    expect([isError, content[0].text]).toEqual([
      true,
      expect.stringContaining('MCP server "files" is Error: It ended with exit code 1.'),
    ]);
  });

  test('a call that is cancelled meanwhile gets no answer and is never sent', async () => {
    const before = callsTo(files);
    const { id, answer } = await waiting(agent(), { name: 'read' });
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
    await send(platform.mcpUrl, { key: key.text, session, body });
    expect([(await answer).status, (await answer).text]).toEqual([200, '']);
    await platform.runtime.report(files);
    expect((await call('read', 61)).body.result.content).toHaveLength(1);
    expect(callsTo(files)).toBe(before + 1);
  });

  test('a key that is revoked meanwhile gets 401, and the call is never sent', async () => {
    const other = await workspace.key('short-lived');
    const own = await openSession(platform.mcpUrl, other.text);
    const before = callsTo(files);
    const { answer } = await waiting({ key: other.text, session: own }, { name: 'read' });
    await workspace.revoke(other.id);
    await platform.runtime.report(files);
    expect((await answer).status).toBe(401);
    expect(callsTo(files)).toBe(before);
  });

  test('a session that is ended meanwhile ends its call', async () => {
    const own = await openSession(platform.mcpUrl, key.text);
    const { answer } = await waiting({ key: key.text, session: own }, { name: 'read' });
    await send(platform.mcpUrl, { key: key.text, session: own, method: 'DELETE' });
    expect((await answer).text).toBe('');
  });
});

test('an MCP server that is removed while a call waits for it is unknown', async () => {
  const own = await workspace.mcpServer('leaving', [tool('leave')]);
  await platform.runtime.report(own, starting);
  const skill = await workspace.skill('leaving', ['leaving/leave']);
  await workspace.role('Leaving', [skill]);
  await until(async () => (await say('list_skills')).includes('"leaving" is Disconnected: It is starting.'));
  const { answer } = await waiting(agent(), { name: 'leave' });
  await platform.must(
    'mutation($w: ID!, $skill: ID!, $id: ID!) { removeSkill(workspace: $w, id: $skill) removeMcpServer(workspace: $w, id: $id) }',
    { w: workspace.id, skill, id: own },
  );
  expect((await answer).body.error).toMatchObject({ code: -32602, message: 'Unknown tool: "leave"' });
});

test('a stopping remote-mcp ends all waits', async () => {
  const another = await platform.startAnother();
  const { answer } = await waiting({ ...agent(), url: `${another.url}/mcp` }, { name: 'read' });
  const begun = performance.now();
  const stopped = another.stop();
  expect((await answer).body.error).toMatchObject({ code: -31503, message: 'This remote-mcp is being stopped.' });
  await stopped;
  expect(performance.now() - begun).toBeLessThan(8000);
});
