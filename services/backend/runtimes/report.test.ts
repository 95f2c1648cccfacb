import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { event } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { type McpServerId, newId, newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type Bus, payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody } from '../bus/wire.ts';
import type { Node } from '../graph/graph.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { createMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { stateOf } from '../servers/status.ts';
import { addWorkspace, getWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import {
  connectPlatformRuntime,
  connectRuntime,
  type TestRuntime,
  type TestServerReport,
  toolNamed,
} from '../test/test-runtime.ts';
import { toolsPerServerMax } from '../tools/store-tools.ts';
import { registerRuntime } from './register-runtime.ts';
import { startRuntimes } from './start-runtimes.ts';

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;
let remoteMcp: Bus;

// A runtime may send so much at once: each test begins with all of it.
beforeEach(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
  const key = newKey('system');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: key.reveal() });
  remoteMcp = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
});
afterEach(async () => {
  await started.stop();
  await backend.close();
});

let count = 0;
async function newServer(name = 'files') {
  const { id: workspace, owner } = await addWorkspace(backend, `workspace-${count++}`);
  const server = await createMcpServer(backend, owner, workspace, { name, launch: { command: 'run' } });
  return { workspace, owner, server, mcpServer: server.id };
}

async function statusesOf(workspace: WorkspaceId): Promise<readonly Node<'status'>[]> {
  return (await backend.graph.select({ type: 'status', anchor: workspace, limit: 100 })).nodes;
}

async function toolsOf(workspace: WorkspaceId, mcpServer?: McpServerId) {
  const where = mcpServer === undefined ? [] : [{ field: 'mcpServer' as const, equals: mcpServer }];
  const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, where, limit: 1000 });
  const tools = nodes.map(({ originalName, name, listed }) => ({ originalName, name, listed }));
  return tools.sort((a, b) => (a.originalName < b.originalName ? -1 : 1));
}

async function stateIn(workspace: WorkspaceId, server: Node<'mcpServer'>) {
  return stateOf(server, await statusesOf(workspace), []);
}

describe('a status', () => {
  test('is stored, visible at the MCP server, and announced', async () => {
    const { workspace, server, mcpServer } = await newServer();
    const before = await getWorkspace(backend, workspace);
    const told = Promise.withResolvers<Uint8Array>();
    const listening = remoteMcp.subscribe(patterns.events, (message) => {
      if (message.subject === subjects.event(workspace, 'status')) told.resolve(message.payload);
    });
    const reason = { code: 'exit', message: 'It ended with code 1.', repair: 'Look at its stderr.' };
    const said: TestServerReport = { mcpServer, status: 'Error', health: 'red', reason, restarts: 2, stderr: ['oops'] };
    expect(await cloud.report([{ ...said, nextRetryAt: 5000 }])).toEqual({ refused: [] });
    expect(await stateIn(workspace, server)).toMatchObject({
      ...{ status: 'Error', health: 'red', reason, restarts: 2, stderr: ['oops'], nextRetryAt: 5000 },
    });
    const after = await getWorkspace(backend, workspace);
    expect(after).toMatchObject({ revision: before.revision, statusRevision: before.statusRevision + 1 });
    expect(parseBody(event, await told.promise, payloadMaxBytes)).toEqual({
      version: after.revision,
      statusVersion: after.statusRevision,
    });
    await listening.stop();
  });

  test('is not recorded as activity', async () => {
    const { workspace, mcpServer } = await newServer();
    const activities = () => backend.graph.count({ type: 'activity', anchor: workspace, limit: 1 });
    const before = await activities();
    await cloud.report([{ mcpServer }]);
    expect(await activities()).toBe(before);
  });

  test('a repeated report changes nothing', async () => {
    const { workspace, mcpServer } = await newServer();
    await cloud.report([{ mcpServer }]);
    const before = await getWorkspace(backend, workspace);
    await cloud.report([{ mcpServer }]);
    expect(await getWorkspace(backend, workspace)).toEqual(before);
  });

  test('of two processes is kept for each', async () => {
    const { workspace, server, mcpServer } = await newServer();
    const second = await connectPlatformRuntime(backend, 'cloud-2');
    await cloud.report([{ mcpServer, status: 'Error', health: 'red' }]);
    await second.report([{ mcpServer }]);
    expect(await stateIn(workspace, server)).toMatchObject({
      status: 'Connected',
      health: 'yellow',
      processes: [{ runtime: second.runtime, process: second.process }],
    });
    await second.bus.close();
  });
});

describe("a report about another runtime's MCP server", () => {
  test('is named in the answer and not stored; the rest of it is', async () => {
    const mine = await newServer();
    const { id: elsewhere, owner } = await addWorkspace(backend, `workspace-${count++}`);
    const { secret } = await registerRuntime(backend, owner, { workspace: elsewhere, name: 'office' });
    const office = await connectRuntime(backend, { kind: 'runtime', key: secret });
    const launch = { command: 'run' };
    const bound = await createMcpServer(backend, owner, elsewhere, { name: 'bound', launch, runtime: 'office' });
    const unbound = await createMcpServer(backend, owner, elsewhere, { name: 'unbound', launch });
    const missing = newId('mcpServer');
    const all = [bound.id, unbound.id, mine.mcpServer, missing];
    const said = all.map((mcpServer) => ({ mcpServer, tools: [toolNamed('evil')] }));
    expect(await office.report(said)).toEqual({ refused: [unbound.id, mine.mcpServer, missing] });
    expect(await statusesOf(mine.workspace)).toEqual([]);
    expect(await toolsOf(mine.workspace)).toEqual([]);
    expect((await statusesOf(elsewhere)).map(({ mcpServer }) => mcpServer)).toEqual([bound.id]);
    expect((await toolsOf(elsewhere)).length).toBe(1);
    expect(await cloud.report([{ mcpServer: bound.id }])).toEqual({ refused: [bound.id] });
  });

  test('cannot be sent under another name', async () => {
    const other = await connectPlatformRuntime(backend, 'cloud-3');
    const subject = subjects.report(cloud.runtime, cloud.process);
    await expect(other.bus.request(subject, new Uint8Array(), { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('is refused as a whole when it is malformed', async () => {
    const subject = subjects.report(cloud.runtime, cloud.process);
    const body = new TextEncoder().encode('{"complete":true}');
    await expect(cloud.bus.request(subject, body, { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

describe("a fault in one MCP server's part", () => {
  const longReason = { code: 'x', message: 'x'.repeat(4001), repair: '' };
  const rows: readonly (readonly [string, Partial<TestServerReport>, object])[] = [
    [
      'a reason too long',
      { reason: longReason },
      { status: 'Error', code: 'report_refused', says: /"reason.message"/ },
    ],
    [
      'too many lines of stderr',
      { stderr: Array.from({ length: 21 }, () => 'x') },
      { status: 'Error', says: /"stderr"/ },
    ],
    [
      'a tool name with NUL',
      { tools: [toolNamed('a\0'), toolNamed('b')] },
      { status: 'Connected', says: /"a ".*control/ },
    ],
    [
      'a tool name with half a surrogate pair',
      { tools: [toolNamed('a\ud83d')] },
      { status: 'Connected', says: /surrogate/ },
    ],
    ['a tool name of a megabyte', { tools: [toolNamed('x'.repeat(1e6))] }, { status: 'Connected', says: /1 to 1000/ }],
    [
      'a definition that is not well-formed',
      { tools: [{ name: 'a', definition: '{"inputSchema":{},"x":"\ud800"}' }] },
      { status: 'Connected', says: /definition/ },
    ],
    [
      '20,001 tools',
      { tools: Array.from({ length: 20_001 }, (_, at) => toolNamed(`t${at}`)) },
      { status: 'Connected', code: 'tools_refused', says: /0 to 20000/ },
    ],
  ];
  test.each(rows)(
    '%s: its status says so, and the report of another workspace counts',
    async (_name, wrong, expected) => {
      const [bad, good] = [await newServer(), await newServer()];
      const reply = await cloud.report([
        { mcpServer: bad.mcpServer, ...wrong },
        { mcpServer: good.mcpServer, tools: [toolNamed('read')] },
      ]);
      expect(reply.refused).toEqual([]);
      const { status, code, says } = { code: expect.any(String), ...expected } as Record<string, unknown>;
      expect(await stateIn(bad.workspace, bad.server)).toMatchObject({
        status,
        reason: { code, message: expect.stringMatching(says as RegExp) },
      });
      expect(await stateIn(good.workspace, good.server)).toMatchObject({ status: 'Connected', reason: null });
      expect(await toolsOf(good.workspace)).toMatchObject([{ originalName: 'read', listed: true }]);
      // The next good report clears all of it.
      await cloud.report([{ mcpServer: bad.mcpServer, tools: [toolNamed('fine')] }]);
      expect(await stateIn(bad.workspace, bad.server)).toMatchObject({ status: 'Connected', reason: null });
    },
  );

  test('is reported to the runtime, and a runtime of an earlier version ignores it', async () => {
    const bad = await newServer();
    const reply = await cloud.report([{ mcpServer: bad.mcpServer, reason: longReason }], true);
    expect(reply).toEqual({
      refused: [],
      faults: [{ mcpServer: bad.mcpServer, why: expect.stringContaining('reason.message') }],
    });
    expect(z.object({ refused: z.array(z.string()) }).parse(reply)).toEqual({ refused: [] });
    expect((await stateIn(bad.workspace, bad.server)).status).toBe('Error');
  });

  test("is not shown at another runtime's MCP server", async () => {
    const mine = await newServer();
    const { id: elsewhere, owner } = await addWorkspace(backend, `workspace-${count++}`);
    const { secret } = await registerRuntime(backend, owner, { workspace: elsewhere, name: 'office' });
    const office = await connectRuntime(backend, { kind: 'runtime', key: secret });
    const said = { mcpServer: mine.mcpServer, reason: longReason };
    expect(await office.report([said])).toEqual({ refused: [mine.mcpServer] });
    expect(await statusesOf(mine.workspace)).toEqual([]);
    const many = Array.from({ length: 2001 }, () => ({ mcpServer: newId('mcpServer') }));
    await expect(office.report(many)).rejects.toMatchObject({ code: 'too_large' });
    await office.bus.close();
  });
});

test('one process has a limited number of reports stored at once', async () => {
  const { mcpServer } = await newServer();
  const tools = Array.from({ length: 200 }, (_, at) => toolNamed(`tool-${at}`));
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => cloud.report([{ mcpServer, tools }])));
  const refusals = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refusals).toEqual(Array.from({ length: 7 }, () => 'rate_limited'));
});

test('a report whose sender has stopped waiting is abandoned, and the next one is stored', async () => {
  const { workspace, mcpServer } = await newServer();
  const tools = Array.from({ length: 2000 }, (_, at) => toolNamed(`tool-${at}`));
  const line = { ...{ mcpServer, configVersion: 1, status: 'Connected', health: 'green', reason: null, restarts: 0 } };
  const entry = { ...line, startedAt: 1, nextRetryAt: null, stderr: [], tools: tools.length };
  const body = [{ complete: false, mcpServers: [entry] }, ...tools].map((one) => JSON.stringify(one)).join('\n');
  const subject = subjects.report(cloud.runtime, cloud.process);
  const asked = cloud.bus.request(subject, new TextEncoder().encode(body), { timeoutMs: 60 });
  await expect(asked).rejects.toMatchObject({ code: 'timeout' });
  const begun = performance.now();
  await cloud.report([{ mcpServer, tools: [toolNamed('read')] }]);
  expect(performance.now() - begun).toBeLessThan(5000);
  expect((await toolsOf(workspace)).filter(({ listed }) => listed)).toMatchObject([{ originalName: 'read' }]);
});

describe('a complete report', () => {
  test('withdraws the MCP servers that it lacks, for this process only', async () => {
    const one = await newServer();
    const other = await newServer();
    const second = await connectPlatformRuntime(backend, 'cloud-4');
    await cloud.report([{ mcpServer: one.mcpServer }, { mcpServer: other.mcpServer }]);
    await second.report([{ mcpServer: other.mcpServer }]);
    const before = await getWorkspace(backend, other.workspace);
    await cloud.report([{ mcpServer: one.mcpServer }], true);
    expect(await statusesOf(one.workspace)).toHaveLength(1);
    expect((await statusesOf(other.workspace)).map(({ process }) => process)).toEqual([second.process]);
    expect((await getWorkspace(backend, other.workspace)).statusRevision).toBe(before.statusRevision + 1);
    await second.bus.close();
  });

  test('an incomplete one withdraws nothing', async () => {
    const one = await newServer();
    const other = await newServer();
    await cloud.report([{ mcpServer: one.mcpServer }]);
    await cloud.report([{ mcpServer: other.mcpServer }]);
    expect(await statusesOf(one.workspace)).toHaveLength(1);
  });
});

describe('a list of tools', () => {
  test('is stored with permanent names, whatever comes and goes', async () => {
    const { workspace, owner, mcpServer } = await newServer('files');
    const { id: second } = await createMcpServer(backend, owner, workspace, { name: 'docs', launch: { command: 'x' } });
    await cloud.report([{ mcpServer, tools: [toolNamed('read'), toolNamed('load_skill')] }]);
    await cloud.report([{ mcpServer: second, tools: [toolNamed('read'), toolNamed('x.y')] }]);
    const named = async (id: McpServerId) => (await toolsOf(workspace, id)).map(({ name }) => name);
    expect(await named(mcpServer)).toEqual(['files_load_skill', 'read']);
    expect(await named(second)).toEqual(['docs_read', 'x_y']);
    await cloud.report([{ mcpServer, tools: [] }]);
    expect(await toolsOf(workspace, mcpServer)).toEqual([
      { originalName: 'load_skill', name: 'files_load_skill', listed: false },
      { originalName: 'read', name: 'read', listed: false },
    ]);
    await cloud.report([{ mcpServer: second, tools: [toolNamed('read')] }]);
    await cloud.report([{ mcpServer, tools: [toolNamed('read')] }]);
    expect((await toolsOf(workspace)).filter(({ listed }) => listed).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['read', 'docs_read']),
    );
  });

  test('raises the status revision; a report without tools leaves the list alone', async () => {
    const { workspace, mcpServer } = await newServer();
    await cloud.report([{ mcpServer, tools: [toolNamed('read')] }]);
    const before = await getWorkspace(backend, workspace);
    await cloud.report([{ mcpServer, health: 'yellow' }]);
    expect(await toolsOf(workspace)).toMatchObject([{ originalName: 'read', listed: true }]);
    await cloud.report([{ mcpServer, health: 'yellow', tools: [toolNamed('read', 'other words')] }]);
    expect(await getWorkspace(backend, workspace)).toMatchObject({
      revision: before.revision,
      statusRevision: before.statusRevision + 2,
    });
    const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, limit: 10 });
    expect(nodes[0]?.definition).toContain('other words');
  });

  test('of an earlier configuration is not stored', async () => {
    const { workspace, owner, mcpServer } = await newServer();
    await updateMcpServer(backend, owner, workspace, mcpServer, { launch: { command: 'other' } });
    await cloud.report([{ mcpServer, configVersion: 1, tools: [toolNamed('old')] }]);
    expect(await toolsOf(workspace)).toEqual([]);
    await cloud.report([{ mcpServer, configVersion: 2, tools: [toolNamed('new')] }]);
    expect(await toolsOf(workspace)).toMatchObject([{ originalName: 'new' }]);
    await cloud.report([{ mcpServer, configVersion: 1, tools: [] }]);
    expect(await toolsOf(workspace)).toMatchObject([{ originalName: 'new', listed: true }]);
  });

  test('with invalid tools names them with the reason, until the list is valid', async () => {
    const { workspace, server, mcpServer } = await newServer();
    const bad = { name: 'bad', definition: '[]' };
    const long = toolNamed('long', 'x'.repeat(300_000));
    await cloud.report([{ mcpServer, tools: [toolNamed('good'), bad, long] }]);
    expect(await toolsOf(workspace)).toMatchObject([{ originalName: 'good' }]);
    const { status, reason } = await stateIn(workspace, server);
    expect(status).toBe('Connected');
    expect(reason).toMatchObject({ code: 'tools_left_out', message: expect.stringMatching(/"bad", "long".*JSON/) });
    await cloud.report([{ mcpServer, health: 'yellow' }]);
    expect((await stateIn(workspace, server)).reason).toEqual(reason);
    await cloud.report([{ mcpServer, tools: [toolNamed('good')] }]);
    expect((await stateIn(workspace, server)).reason).toBeNull();
  });

  test('names each tool once', async () => {
    const { workspace, mcpServer } = await newServer();
    await cloud.report([{ mcpServer, tools: [toolNamed('read', 'one'), toolNamed('read', 'two')] }]);
    const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, limit: 10 });
    expect(nodes.map(({ definition }) => definition)).toEqual([toolNamed('read', 'one').definition]);
  });

  test('has a maximum', { timeout: 60_000 }, async () => {
    const { workspace, server, mcpServer } = await newServer();
    const tools = Array.from({ length: toolsPerServerMax + 2 }, (_, i) => toolNamed(`tool-${i}`));
    await cloud.report([{ mcpServer, tools }]);
    const where = [{ field: 'mcpServer' as const, equals: mcpServer }];
    const stored = () => backend.graph.count({ type: 'tool', anchor: workspace, where, limit: 1 });
    expect(await stored()).toBe(toolsPerServerMax);
    expect((await stateIn(workspace, server)).reason?.message).toMatch(/"tool-5000", "tool-5001".*at most 5000 tools/);
    // An MCP server with other names every day: names that no skill uses are forgotten.
    await cloud.report([{ mcpServer, tools: [toolNamed('other'), toolNamed('tool-7')] }]);
    expect(await stored()).toBe(2);
  });
});
