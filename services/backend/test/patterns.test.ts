import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type McpServerId, parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { patternsOfSkillMax, toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime, toolNamed } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;
let files: McpServerId;

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
  files = await addServer('files');
  await addServer('docs');
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

const list = (...names: string[]) => cloud.report([{ mcpServer: files, tools: names.map((name) => toolNamed(name)) }]);

/** References as MCPSERVER/TOOL. */
const refsOf = (tools: readonly string[]) =>
  tools.map((ref) => ({ mcpServer: ref.split('/')[0], tool: ref.slice(ref.indexOf('/') + 1) }));

async function ask(query: string, tools: readonly string[], more: object = {}) {
  const variables = { w, tools: refsOf(tools), ...more };
  return await backend.ask({ query, variables, token: await backend.operatorToken() });
}

const create = (...tools: readonly string[]) =>
  ask(
    'mutation ($w: ID!, $tools: [ToolRef!]) { createSkill(workspace: $w, input: { name: "s", tools: $tools }) { id } }',
    tools,
  );

async function skill() {
  const { workspace } = await backend.must(
    `query ($w: ID!) { workspace(id: $w) { skill(name: "s") {
      id tools { originalName } namedTools { originalName } patterns { pattern mcpServer { name } }
      mcpServers { name } available reason { code message }
    } } }`,
    { w },
  );
  return workspace.skill;
}
const namesOf = (tools: readonly { originalName: string }[]) => tools.map(({ originalName }) => originalName);

describe('a skill with patterns', () => {
  test('has the listed tools that match, as the list changes', async () => {
    await list('read_a', 'write_a');
    await create('files/read_*', 'files/read_b');
    expect(namesOf((await skill()).tools)).toEqual(['read_b', 'read_a']);
    await list('read_a', 'read_b', 'read_c');
    expect(namesOf((await skill()).tools)).toEqual(['read_b', 'read_a', 'read_c']);
    await list('read_b');
    // The tools that disappeared were not named, so the skill is complete.
    expect(await skill()).toMatchObject({
      tools: [{ originalName: 'read_b' }],
      namedTools: [{ originalName: 'read_b' }],
      patterns: [{ pattern: 'read_*', mcpServer: { name: 'files' } }],
      available: true,
      reason: null,
    });
  });

  test('needs the MCP servers that it follows, also without a match', async () => {
    await list('read');
    await create('files/nothing*', 'docs/*');
    const seen = await skill();
    expect(seen).toMatchObject({ tools: [], mcpServers: [{ name: 'docs' }, { name: 'files' }], available: false });
    expect(seen.reason.message).toContain('The MCP server "docs" is Disconnected');
  });

  test('has no more tools than the limit, and says so', async () => {
    const names = Array.from({ length: toolsOfSkillMax + 1 }, (_, number) => `t${10_000 + number}`);
    await list(...names, 'own');
    await create('files/t*', 'files/own');
    const { tools, reason, available } = await skill();
    expect([tools.length, namesOf(tools)[0], namesOf(tools).at(-1)]).toEqual([toolsOfSkillMax, 'own', 't10998']);
    expect(available).toBe(true);
    expect(reason).toMatchObject({ code: 'too_many_tools', message: expect.stringContaining('match 2 more tools') });
  });

  test('keeps its patterns until they are replaced, and records the change', async () => {
    await create('files/*', 'docs/a**b');
    const { id } = await skill();
    const update = (input: string, tools: readonly string[] = []) =>
      ask(
        `mutation ($w: ID!, $id: ID!, $tools: [ToolRef!]) { updateSkill(workspace: $w, id: $id, input: ${input}) { id } }`,
        tools,
        { id },
      );
    await update('{ description: "d" }');
    const both = [expect.objectContaining({ pattern: '*' }), expect.objectContaining({ pattern: 'a*b' })];
    expect((await skill()).patterns).toEqual(expect.arrayContaining(both));
    await update('{ tools: $tools }', ['files/read', 'files/*', 'files/*']);
    expect(await skill()).toMatchObject({ patterns: [{ pattern: '*' }], namedTools: [{ originalName: 'read' }] });
    await update('{ tools: $tools }', []);
    expect(await skill()).toMatchObject({ patterns: [], namedTools: [], mcpServers: [] });
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity(first: 2) { nodes { changes } } } }',
      { w },
    );
    const changes = workspace.activity.nodes.map((node: { changes: string }) => JSON.parse(node.changes));
    expect(changes).toEqual([
      { tools: { from: ['files/*', 'files/read'], to: [] } },
      { tools: { from: ['docs/a*b', 'files/*'], to: ['files/*', 'files/read'] } },
    ]);
  });

  test('leaves no pattern behind when it or the MCP server is removed', async () => {
    const left = () => backend.withGraph((graph) => graph.count({ type: 'toolPattern', anchor: w, limit: 1 }));
    await create('files/*', 'docs/*');
    expect(await left()).toBe(2);
    await ask('mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }', [], { id: files });
    expect(await left()).toBe(1);
    expect((await skill()).mcpServers).toEqual([{ name: 'docs' }]);
    await ask('mutation ($w: ID!, $id: ID!) { removeSkill(workspace: $w, id: $id) }', [], { id: (await skill()).id });
    expect(await left()).toBe(0);
  });
});

describe('a pattern is refused', () => {
  test.each([
    ['of an unknown MCP server', ['flies/*'], 'not_found'],
    ['for all MCP servers', ['*/*'], 'not_found'],
    ['that is too long', [`files/${'x'.repeat(1000)}*`], 'invalid_input'],
    ['with a zero byte', ['files/\0*'], 'invalid_input'],
    [
      'beyond the limit of a skill',
      Array.from({ length: patternsOfSkillMax + 1 }, (_, n) => `files/${n}*`),
      'too_large',
    ],
  ])('%s', async (_name, tools, code) => {
    expect((await create(...tools)).code).toBe(code);
    expect(await skill()).toBeNull();
  });
});

describe('what a removal changes', () => {
  test('the roles of a skill, and the valid keys of a role', async () => {
    await create('files/*');
    const { id } = await skill();
    const made = await backend.must(
      'mutation ($w: ID!, $skills: [ID!]) { createRole(workspace: $w, input: { name: "Reader", skills: $skills }) { id } }',
      { w, skills: [id] },
    );
    const role = made.createRole.id;
    const key = (name: string, roles: readonly string[] | null) =>
      backend.must(
        'mutation ($w: ID!, $name: String!, $roles: [ID!]) { createKey(workspace: $w, input: { name: $name, roles: $roles }) { key { id } } }',
        { w, name, roles },
      );
    await key('limited', [role]);
    await key('all', null);
    await key('old', [role]);
    await backend.must('mutation ($w: ID!) { revokeKey(workspace: $w, key: "old") { id } }', { w });
    const query = 'query ($w: ID!) { workspace(id: $w) { skill(name: "s") { roles { name keys { name } } } } }';
    const seen = await backend.must(query, { w });
    expect(seen.workspace.skill.roles).toEqual([{ name: 'Reader', keys: [{ name: 'limited' }] }]);
    const editor = await backend.addMember(w, 'editor');
    expect((await backend.ask({ query, variables: { w }, token: editor.token })).code).toBe('forbidden');
  });
});
