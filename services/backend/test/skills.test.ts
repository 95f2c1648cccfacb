import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpServerId, newId, parseId, type SkillId, type WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime, toolNamed } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;
const skills = new Map<string, SkillId>();
const names = Array.from({ length: 12 }, (_, number) => `skill-${String(number).padStart(2, '0')}`);
let readers: string;

/** Every third skill uses an MCP server that is not connected, and the role has every fourth. */
beforeAll(async () => {
  backend = await startTestBackend();
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "Acme", ownerEmail: "owner@localhost" }) { id } }',
    {},
  );
  w = createWorkspace.id;
  cloud = await connectCloudRuntime(backend);
  await cloud.shakeHands();
  const up = await addServer('up');
  await addServer('down');
  await cloud.report([{ mcpServer: up, tools: [toolNamed('read'), toolNamed('write')] }]);
  for (const [index, name] of names.entries()) {
    const tools = [{ mcpServer: index % 3 === 0 ? 'down' : 'up', tool: 'read' }];
    const { createSkill } = await backend.must(
      `mutation ($w: ID!, $name: String!, $tools: [ToolRef!]) {
        createSkill(workspace: $w, input: { name: $name, tools: $tools }) { id }
      }`,
      { w, name, tools },
    );
    skills.set(name, createSkill.id);
  }
  const { createRole } = await backend.must(
    'mutation ($w: ID!, $skills: [ID!]) { createRole(workspace: $w, input: { name: "readers", skills: $skills }) { id } }',
    { w, skills: names.filter((_, index) => index % 4 === 0).map((name) => skills.get(name)) },
  );
  readers = createRole.id;
});
afterAll(() => backend.stop());

async function addServer(name: string): Promise<McpServerId> {
  const { createMcpServer } = await backend.must(
    `mutation ($w: ID!, $name: String!) {
      createMcpServer(workspace: $w, input: { name: $name, launch: { command: "node" } }) { id }
    }`,
    { w, name },
  );
  return parseId('mcpServer', createMcpServer.id);
}

/** The names on all pages, and the number of pages. */
async function namesOf(filter: object, first = 100) {
  const found: string[] = [];
  let pages = 0;
  for (let after: string | null = null; pages === 0 || after !== null; pages++) {
    const { workspace } = await backend.must(
      `query ($w: ID!, $first: Int, $after: String, $search: String, $role: ID, $available: Boolean) {
        workspace(id: $w) {
          skills(first: $first, after: $after, search: $search, role: $role, available: $available) {
            nodes { name }
            pageInfo { next }
          }
        }
      }`,
      { w, first, after, ...filter },
    );
    expect(workspace.skills.nodes.length).toBeLessThanOrEqual(first);
    found.push(...workspace.skills.nodes.map(({ name }: { name: string }) => name));
    after = workspace.skills.pageInfo.next;
  }
  return { found, pages };
}

const every = (step: number) => names.filter((_, index) => index % step === 0);

test.each([1, 3, 5, 100])('filters by availability and by role, in pages of %d', async (first) => {
  expect((await namesOf({ available: false }, first)).found).toEqual(every(3));
  expect((await namesOf({ available: true }, first)).found).toEqual(names.filter((_, index) => index % 3 !== 0));
  expect((await namesOf({ role: readers }, first)).found).toEqual(every(4));
  expect((await namesOf({ role: readers, available: false }, first)).found).toEqual(every(12));
  expect((await namesOf({ role: readers, search: 'skill 04' }, first)).found).toEqual(['skill-04']);
  expect((await namesOf({ role: newId('role') }, first)).found).toEqual([]);
});

test('reads a bounded part for one page, which may then be empty', async () => {
  const { found, pages } = await namesOf({ role: newId('role') }, 1);
  expect(found).toEqual([]);
  expect(pages).toBe(2);
});

test('a role that is no id is refused', async () => {
  const query = 'query ($w: ID!) { workspace(id: $w) { skills(role: "readers") { nodes { id } } } }';
  const answer = await backend.ask({ query, variables: { w }, token: await backend.operatorToken() });
  expect(answer.errors?.[0]).toMatchObject({
    message: '"role" is "readers": it must be the id of a role.',
    extensions: { code: 'invalid_input' },
  });
});

async function skillOf(name: string, fields: string) {
  const query = `query ($w: ID!, $name: String) { workspace(id: $w) { skill(name: $name) { ${fields} } } }`;
  const answer = await backend.ask({ query, variables: { w, name }, token: await backend.operatorToken() });
  return { skill: answer.data?.workspace.skill, code: answer.errors?.[0]?.extensions?.code ?? null };
}

test('counts the tools of a skill and the length of their definitions', async () => {
  const { skill } = await skillOf('skill-01', 'toolCount definitionsLength tools { definition }');
  expect(skill.toolCount).toBe(1);
  expect(skill.definitionsLength).toBe(skill.tools[0].definition.length);
  expect((await skillOf('skill-00', 'toolCount definitionsLength')).skill).toEqual({
    toolCount: 1,
    definitionsLength: 0,
  });
});

test('sums the calls of a skill in the last days, and of no other skill or workspace', async () => {
  const hourMs = 3_600_000;
  const now = Date.now();
  const other = await backend.must(
    'mutation { createWorkspace(input: { name: "Other", ownerEmail: "owner@localhost" }) { id } }',
    {},
  );
  const rows = [
    { hours: 1, skill: 'skill-01', calls: 5, errors: 2 },
    { hours: 100, skill: 'skill-01', calls: 7, errors: 0 },
    { hours: 400, skill: 'skill-01', calls: 11, errors: 1 },
    { hours: 1, skill: 'skill-02', calls: 100, errors: 100 },
  ];
  await backend.withGraph((graph) =>
    graph.write(async (transaction) => {
      for (const workspace of [w, parseId('workspace', other.createWorkspace.id)]) {
        for (const { hours, skill, calls, errors } of workspace === w ? rows : rows.slice(0, 1)) {
          const id = newId('usage');
          const key = { slot: id, key: newId('key'), tool: newId('tool'), mcpServer: newId('mcpServer') };
          const at = { hour: now - hours * hourMs, skill: skills.get(skill) ?? null };
          await transaction.create('usage', { id, workspace, ...key, ...at, calls, errors, durationMs: 1 });
        }
      }
    }),
  );
  const { skill } = await skillOf(
    'skill-01',
    'week: usage(days: 7) { calls errors isComplete } month: usage(days: 30) { calls errors }',
  );
  expect(skill).toEqual({ week: { calls: 12, errors: 2, isComplete: true }, month: { calls: 23, errors: 3 } });
  for (const days of [0, -1, 91]) {
    expect((await skillOf('skill-01', `usage(days: ${days}) { calls }`)).code).toBe('invalid_input');
  }
});
