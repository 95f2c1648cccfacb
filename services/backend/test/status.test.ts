import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime, toolNamed } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;

beforeAll(async () => {
  backend = await startTestBackend();
  cloud = await connectCloudRuntime(backend);
  await cloud.shakeHands();
});
afterAll(() => backend.stop());

let count = 0;
beforeEach(async () => {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@localhost" }) { id } }',
    { name: `w${++count}` },
  );
  w = createWorkspace.id;
});

async function addServer(name: string) {
  const { createMcpServer } = await backend.must(
    `mutation ($w: ID!, $name: String!) {
      createMcpServer(workspace: $w, input: { name: $name, launch: { command: "node" } }) { id }
    }`,
    { w, name },
  );
  return parseId('mcpServer', createMcpServer.id);
}

async function addSkill(...tools: readonly { mcpServer: string; tool: string }[]): Promise<void> {
  await backend.must(
    'mutation ($w: ID!, $tools: [ToolRef!]) { createSkill(workspace: $w, input: { name: "s", tools: $tools }) { id } }',
    { w, tools },
  );
}

async function skill() {
  const { workspace } = await backend.must(
    'query ($w: ID!) { workspace(id: $w) { skill(name: "s") { available reason { code message repair } tools { name } } } }',
    { w },
  );
  return workspace.skill;
}

async function server(name: string) {
  const { workspace } = await backend.must(
    `query ($w: ID!, $name: String!) { workspace(id: $w) { mcpServer(name: $name) {
      status health reason { code message } restarts lastStartedAt nextRetryAt stderr runtimes { name platform available }
      tools { nodes { name originalName description listed } }
    } } }`,
    { w, name },
  );
  return workspace.mcpServer;
}

describe('an MCP server', () => {
  test('that no process has reported is Disconnected, and says why', async () => {
    await addServer('files');
    expect(await server('files')).toMatchObject({
      status: 'Disconnected',
      health: 'red',
      reason: { code: 'no_runtime' },
      runtimes: [{ name: 'cloud', platform: true, available: true }],
    });
  });

  test('that one process has Connected is Connected, with its tools', async () => {
    const mcpServer = await addServer('files');
    await cloud.report([{ mcpServer, startedAt: 7, restarts: 1, tools: [toolNamed('read', 'reads')] }]);
    expect(await server('files')).toMatchObject({
      status: 'Connected',
      health: 'green',
      reason: null,
      restarts: 1,
      lastStartedAt: 7,
      tools: { nodes: [{ name: 'read', originalName: 'read', description: 'reads', listed: true }] },
    });
  });

  test('that fails has its reason, its next retry and its last output', async () => {
    const mcpServer = await addServer('files');
    const reason = { code: 'exited', message: 'It ended with code 1.', repair: 'Mend it.' };
    await cloud.report([
      { mcpServer, status: 'Error', health: 'red', reason, nextRetryAt: 99, stderr: ['no such module'] },
    ]);
    expect(await server('files')).toMatchObject({
      status: 'Error',
      reason: { code: 'exited', message: 'It ended with code 1.' },
      nextRetryAt: 99,
      stderr: ['no such module'],
    });
  });

  test('that was changed or disabled has a new state', async () => {
    const mcpServer = await addServer('files');
    await cloud.report([{ mcpServer }]);
    const update = (input: object) =>
      backend.must(
        'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { status reason { code } } }',
        { w, id: mcpServer, input },
      );
    const renamed = await update({ name: 'renamed' });
    expect(renamed.updateMcpServer).toEqual({ status: 'Connected', reason: null });
    const changed = await update({ launch: { command: 'other' } });
    expect(changed.updateMcpServer).toEqual({ status: 'Disconnected', reason: { code: 'starting' } });
    await cloud.report([{ mcpServer, configVersion: 2 }]);
    const disabled = await update({ enabled: false });
    expect(disabled.updateMcpServer).toEqual({ status: 'Disconnected', reason: { code: 'disabled' } });
    const enabled = await update({ enabled: true });
    expect(enabled.updateMcpServer).toEqual({ status: 'Connected', reason: null });
  });

  test('is in the list of failing ones while it should be Connected and is not', async () => {
    const [works, fails, starts, off] = [
      await addServer('works'),
      await addServer('fails'),
      await addServer('starts'),
      await addServer('off'),
    ];
    const reason = { code: 'exited', message: 'It ended with code 1.', repair: 'Mend it.' };
    await cloud.report([
      { mcpServer: works },
      { mcpServer: fails, status: 'Error', health: 'red', reason },
      { mcpServer: starts },
    ]);
    const update = (id: string, input: object) =>
      backend.must(
        'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { id } }',
        { w, id, input },
      );
    await update(starts, { launch: { command: 'other' } });
    await update(off, { enabled: false });
    const list = async (args: string) => {
      const { workspace } = await backend.must(
        `query ($w: ID!) { workspace(id: $w) { mcpServers${args} { nodes { name } pageInfo { next } } } }`,
        { w },
      );
      return workspace.mcpServers;
    };
    expect(await list('(failing: true)')).toEqual({ nodes: [{ name: 'fails' }], pageInfo: { next: null } });
    expect((await list('(failing: false)')).nodes).toEqual([{ name: 'off' }, { name: 'starts' }, { name: 'works' }]);
    // A page goes on until it finds one.
    const [first] = (await list('(failing: true, first: 1)')).nodes;
    expect(first).toEqual({ name: 'fails' });
    expect((await list('(failing: true, search: "work")')).nodes).toEqual([]);
  });

  test('that is removed takes its tools and statuses along', async () => {
    const mcpServer = await addServer('files');
    await cloud.report([{ mcpServer, tools: [toolNamed('a'), toolNamed('b')] }]);
    await backend.must('mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }', {
      w,
      id: mcpServer,
    });
    const left = await backend.withGraph(async (graph) => [
      ...(await graph.select({ type: 'tool', anchor: w, limit: 10 })).nodes,
      ...(await graph.select({ type: 'status', anchor: w, limit: 10 })).nodes,
    ]);
    expect(left).toEqual([]);
  });
});

describe("a skill's tools (specification, part 3, rule 1)", () => {
  test('are available only while every MCP server it refers to is Connected', async () => {
    const files = await addServer('files');
    const crm = await addServer('crm');
    await addSkill({ mcpServer: 'files', tool: 'read' }, { mcpServer: 'crm', tool: 'find' });
    expect(await skill()).toMatchObject({ available: false, reason: { code: 'mcp_server_not_connected' } });
    await cloud.report([{ mcpServer: files, tools: [toolNamed('read')] }]);
    expect(await skill()).toMatchObject({ available: false, reason: { message: expect.stringContaining('"crm"') } });
    await cloud.report([{ mcpServer: crm, tools: [toolNamed('find')] }]);
    const { tools, ...whole } = await skill();
    expect(whole).toEqual({ available: true, reason: null });
    expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual(['find', 'read']);
    const reason = { code: 'exited', message: 'It ended.', repair: 'Mend it.' };
    await cloud.report([{ mcpServer: files, status: 'Error', health: 'red', reason }]);
    expect(await skill()).toMatchObject({
      available: false,
      reason: {
        code: 'mcp_server_not_connected',
        message: 'The MCP server "files" is Error. It ended.',
        repair: 'Mend it.',
      },
    });
  });

  test('and a tool that is not offered is named, and leaves the others usable', async () => {
    const files = await addServer('files');
    await addSkill({ mcpServer: 'files', tool: 'read' });
    await cloud.report([{ mcpServer: files, tools: [toolNamed('write')] }]);
    expect(await skill()).toMatchObject({
      available: true,
      reason: { code: 'missing_tool', message: 'The MCP server "files" does not offer the tool "read" now.' },
    });
  });

  test('a skill with instructions alone needs no MCP server', async () => {
    await addSkill();
    expect(await skill()).toEqual({ available: true, reason: null, tools: [] });
  });
});

describe('where an MCP server runs', () => {
  test("is the runtime it is bound to, or the platform's own", async () => {
    await backend.must('mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { secret } }', { w });
    const created = await backend.must(
      `mutation ($w: ID!) {
        createMcpServer(workspace: $w, input: { name: "files", runtime: "office", launch: { command: "x" } }) { id runtimes { name } }
      }`,
      { w },
    );
    expect(created.createMcpServer.runtimes).toEqual([{ name: 'office' }]);
    const update = async (runtime: string) => {
      const { updateMcpServer } = await backend.must(
        'mutation ($w: ID!, $id: ID!, $runtime: String) { updateMcpServer(workspace: $w, id: $id, input: { runtime: $runtime }) { runtimes { name } } }',
        { w, id: created.createMcpServer.id, runtime },
      );
      return updateMcpServer.runtimes;
    };
    expect(await update('')).toEqual([{ name: 'cloud' }]);
    expect(await update('office')).toEqual([{ name: 'office' }]);
    expect(await update('cloud')).toEqual([{ name: 'cloud' }]);
  });

  test('is reported with the confinement of its processes', async () => {
    const files = await addServer('files');
    const sandboxes = async () => {
      const { workspace } = await backend.must(
        'query ($w: ID!) { workspace(id: $w) { mcpServer(name: "files") { sandboxes } } platformRuntimes { nodes { name sandboxes } } }',
        { w },
      );
      return workspace.mcpServer.sandboxes;
    };
    expect(await sandboxes()).toEqual([]);
    await cloud.report([{ mcpServer: files }]);
    expect(await sandboxes()).toEqual([]);
    await cloud.shakeHands(undefined, undefined, { sandbox: 'none' });
    expect(await sandboxes()).toEqual(['none']);
    cloud.beat(60_000, 'none-for-everybody');
    await expect.poll(sandboxes).toEqual(['none']);
    cloud.beat(60_000, 'auto');
    const { token } = await backend.addMember(w, 'admin');
    const query =
      'mutation ($w: ID!, $id: ID!) { updateMcpServer(workspace: $w, id: $id, input: { launch: { command: "x" } }) { id } }';
    await expect.poll(sandboxes).toEqual(['none']);
    expect((await backend.ask({ query, variables: { w, id: files }, token })).code).toBe(null);
    expect(await sandboxes()).toEqual(['bwrap']);
    cloud.beat(60_000, 'bwrap');
    await expect.poll(sandboxes).toEqual(['bwrap']);
    const { platformRuntimes } = await backend.must('{ platformRuntimes { nodes { name sandboxes } } }');
    expect(platformRuntimes.nodes).toEqual([{ name: 'cloud', sandboxes: ['bwrap'] }]);
  });

  test('is not a runtime of another workspace', async () => {
    await backend.must('mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { secret } }', { w });
    const { createWorkspace } = await backend.must(
      'mutation { createWorkspace(input: { name: "elsewhere", ownerEmail: "owner@localhost" }) { id } }',
    );
    const answer = await backend.ask({
      query:
        'mutation ($w: ID!) { createMcpServer(workspace: $w, input: { name: "f", runtime: "office", launch: { command: "x" } }) { id } }',
      variables: { w: createWorkspace.id },
      token: await backend.operatorToken(),
    });
    expect(answer.errors[0]).toMatchObject({
      message: 'This workspace has no runtime "office".',
      extensions: { code: 'not_found', hint: 'There are: cloud.' },
    });
  });
});
