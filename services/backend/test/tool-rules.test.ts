import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { rulesOfRoleMax } from '../../contracts/workspace-limits.ts';
import { readCatalogue } from '../catalogue/read-catalogue.ts';
import type { RuleRef } from '../roles/tool-rules.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await startTestBackend();
});
afterAll(() => backend.stop());

let count = 0;
async function newWorkspace() {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@localhost" }) { id } }',
    { name: `w${++count}` },
  );
  const w: WorkspaceId = createWorkspace.id;
  for (const name of ['files', 'crm']) {
    await backend.must(
      `mutation ($w: ID!, $name: String!) {
        createMcpServer(workspace: $w, input: { name: $name, launch: { command: "node" } }) { id }
      }`,
      { w, name },
    );
  }
  return w;
}

const rule = (effect: RuleRef['effect'], text: string): RuleRef => ({
  ...{ effect, mcpServer: text.split('/')[0] ?? '', tool: text.slice(text.indexOf('/') + 1) },
});

async function ask(query: string, variables: Readonly<Record<string, unknown>>) {
  return await backend.ask({ query, variables, token: await backend.operatorToken() });
}

const create = (w: WorkspaceId, input: object) =>
  ask('mutation ($w: ID!, $input: RoleInput!) { createRole(workspace: $w, input: $input) { id } }', {
    ...{ w, input: { name: 'Support', ...input } },
  });

async function must(w: WorkspaceId, input: object): Promise<string> {
  const { data } = await create(w, input);
  return data.createRole.id;
}

const update = (w: WorkspaceId, id: string, input: object) =>
  ask('mutation ($w: ID!, $id: ID!, $input: RolePatch!) { updateRole(workspace: $w, id: $id, input: $input) { id } }', {
    ...{ w, id, input },
  });

const removeServer = async (w: WorkspaceId, name: string) => {
  const { workspace } = await backend.must(
    'query ($w: ID!, $name: String!) { workspace(id: $w) { mcpServer(name: $name) { id } } }',
    { w, name },
  );
  return await ask('mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }', {
    ...{ w, id: workspace.mcpServer.id },
  });
};

async function role(w: WorkspaceId) {
  const { workspace } = await backend.must(
    `query ($w: ID!) { workspace(id: $w) {
      role(name: "Support") { version readOnly rules { effect tool mcpServer { name } } }
    } }`,
    { w },
  );
  const { rules, ...rest } = workspace.role;
  const texts = rules.map((one: { effect: string; tool: string; mcpServer: { name: string } }) => {
    return `${one.effect} ${one.mcpServer.name}/${one.tool}`;
  });
  return { ...rest, rules: texts.sort() };
}

const rulesLeft = (w: WorkspaceId) =>
  backend.withGraph((graph) => graph.count({ type: 'toolRule', anchor: w, limit: 1 }));

async function rolesInCatalogue(w: WorkspaceId, appliesRules: boolean) {
  return await backend.withGraph(async (graph) => {
    const workspace = await graph.find('workspace', w, null);
    if (workspace === null) throw new Error('no workspace');
    const entries = [];
    for await (const slice of readCatalogue(graph, workspace, { appliesRules })) entries.push(...slice);
    return entries.filter((entry) => entry.entry === 'role');
  });
}

describe('the tool rules of a role', () => {
  test('are kept, replaced as a whole, and removed with the role', async () => {
    const w = await newWorkspace();
    const id = await must(w, { readOnly: true, rules: [rule('allow', 'files/read_**'), rule('deny', 'crm/delete')] });
    expect(await role(w)).toMatchObject({ readOnly: true, rules: ['allow files/read_*', 'deny crm/delete'] });
    await update(w, id, { description: 'x' });
    expect(await role(w)).toMatchObject({ readOnly: true, rules: ['allow files/read_*', 'deny crm/delete'] });
    await update(w, id, { readOnly: false, rules: [rule('deny', 'files/read_*')] });
    expect(await role(w)).toMatchObject({ readOnly: false, rules: ['deny files/read_*'] });
    await ask('mutation ($w: ID!, $id: ID!) { removeRole(workspace: $w, id: $id) }', { w, id });
    expect(await rulesLeft(w)).toBe(0);
  });

  test('raise the version of the role when they alone change', async () => {
    const w = await newWorkspace();
    const id = await must(w, {});
    const before = (await role(w)).version;
    await update(w, id, { rules: [rule('deny', 'crm/*')] });
    expect((await role(w)).version).toBe(before + 1);
    expect((await update(w, id, { readOnly: true, ifVersion: before })).errors[0]).toMatchObject({
      message: expect.stringContaining('rules with "deny crm/*"'),
      extensions: { code: 'conflict' },
    });
  });

  test.each([
    ['an unknown MCP server', [rule('deny', 'nothing/x')], 'not_found'],
    ['a rule without a tool', [rule('deny', 'files/')], 'invalid_input'],
    ['a zero byte', [rule('deny', 'files/a\0b')], 'invalid_input'],
    ['a tool that is too long', [rule('deny', `files/${'x'.repeat(1001)}`)], 'invalid_input'],
    ['a tool both allowed and denied', [rule('deny', 'files/a'), rule('allow', 'files/a')], 'invalid_input'],
    [
      'more rules than a role may have',
      Array.from({ length: rulesOfRoleMax + 1 }, (_, i) => rule('deny', `files/${i}`)),
      'too_large',
    ],
  ])('refuse %s, and store nothing', async (_what, rules, code) => {
    const w = await newWorkspace();
    expect((await create(w, { rules })).errors[0]?.extensions.code).toBe(code);
    expect(await rulesLeft(w)).toBe(0);
  });

  test('cannot name the MCP server of another workspace', async () => {
    const [w, other] = [await newWorkspace(), await newWorkspace()];
    await backend.must(
      'mutation ($w: ID!) { createMcpServer(workspace: $w, input: { name: "theirs", launch: { command: "node" } }) { id } }',
      { w: other },
    );
    expect((await create(w, { rules: [rule('deny', 'theirs/x')] })).errors[0]?.extensions.code).toBe('not_found');
  });

  test('are lost with their MCP server, which the role records', async () => {
    const w = await newWorkspace();
    await must(w, { rules: [rule('deny', 'crm/*'), rule('allow', 'files/a'), rule('allow', 'crm/b')] });
    const before = (await role(w)).version;
    expect((await removeServer(w, 'crm')).data.removeMcpServer).toBe(true);
    expect(await role(w)).toMatchObject({ rules: ['allow files/a'], version: before + 1 });
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity { nodes { subjectKind changes } } } }',
      { w },
    );
    expect(workspace.activity.nodes).toContainEqual({
      subjectKind: 'role',
      changes: JSON.stringify({ removedRules: { from: null, to: ['allow crm/b', 'deny crm/*'] } }),
    });
  });

  test('keep an MCP server whose removal would allow every tool', async () => {
    const w = await newWorkspace();
    await must(w, { rules: [rule('allow', 'crm/b'), rule('deny', 'files/a')] });
    const { errors } = await removeServer(w, 'crm');
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('The role "Support" allows only tools of the MCP server "crm"'),
      extensions: { code: 'conflict' },
    });
    expect(await role(w)).toMatchObject({ rules: ['allow crm/b', 'deny files/a'] });
  });

  test('are in the catalogue; a remote-mcp that cannot apply them gets the role disabled', async () => {
    const w = await newWorkspace();
    await must(w, { rules: [rule('deny', 'crm/*')] });
    await create(w, { name: 'Reader', readOnly: true });
    await create(w, { name: 'All' });
    const seen = async (applies: boolean) =>
      (await rolesInCatalogue(w, applies)).map(({ name, enabled }) => `${name} ${enabled}`).sort();
    expect(await seen(true)).toEqual(['All true', 'Reader true', 'Support true']);
    expect(await seen(false)).toEqual(['All true', 'Reader false', 'Support false']);
    const [support] = (await rolesInCatalogue(w, true)).filter(({ name }) => name === 'Support');
    expect(support).toMatchObject({ readOnly: false, rules: [{ effect: 'deny', pattern: '*' }] });
  });
});
