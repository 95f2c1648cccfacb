import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { event, type PlatformEvent } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let listener: Bus;
/** Events that remote-mcp receives, in order, as "kind of workspace". */
const heard: { readonly subject: string; readonly body: PlatformEvent }[] = [];

beforeAll(async () => {
  backend = await startTestBackend();
  const key = newKey('system');
  await backend.must('mutation ($key: String!) { registerSystemKey(input: { component: "remote-mcp", key: $key }) }', {
    key: key.reveal(),
  });
  listener = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
  listener.subscribe(patterns.events, ({ subject, payload }) => {
    heard.push({ subject, body: event.parse(JSON.parse(new TextDecoder().decode(payload))) });
  });
});
afterAll(() => backend.stop());

let count = 0;

async function addWorkspace(): Promise<WorkspaceId> {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@localhost" }) { id } }',
    { name: `w${++count}` },
  );
  return createWorkspace.id;
}

interface Entry {
  readonly action: string;
  readonly subjectKind: string;
  readonly subjectName: string;
  readonly actorName: string;
  readonly changes: object;
}

async function stateOf(workspace: WorkspaceId): Promise<{ revision: number; activity: Entry[] }> {
  const { workspace: read } = await backend.must(
    `query ($w: ID!) { workspace(id: $w) { revision activity { nodes {
      action subjectKind subjectName actorName changes
    } } } }`,
    { w: workspace },
  );
  const activity = read.activity.nodes.map((node: Entry & { changes: string }) => ({
    ...node,
    changes: JSON.parse(node.changes),
  }));
  return { revision: read.revision, activity };
}

const makeRole = 'mutation ($w: ID!, $input: RoleInput!) { createRole(workspace: $w, input: $input) { id version } }';
const patchRole =
  'mutation ($w: ID!, $id: ID!, $input: RolePatch!) { updateRole(workspace: $w, id: $id, input: $input) { name description enabled version skills { name } } }';
const makeSkill =
  'mutation ($w: ID!, $input: SkillInput!) { createSkill(workspace: $w, input: $input) { id tools { name originalName listed mcpServer { name } } mcpServers { name } available } }';
const makeServer =
  'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id version } }';
const patchServer =
  'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { name enabled version launch { fingerprint } runtimes { name } } }';

describe('a change', () => {
  test('raises the revision, is recorded and is announced, once each', async () => {
    const w = await addWorkspace();
    const before = await stateOf(w);
    expect(before.activity).toEqual([
      {
        action: 'create',
        subjectKind: 'workspace',
        subjectName: `w${count}`,
        actorName: 'root',
        changes: { owner: { to: 'owner@localhost' } },
      },
    ]);
    heard.length = 0;
    await backend.must(makeRole, { w, input: { name: '  Reader ', description: 'reads' } });
    const after = await stateOf(w);
    expect(after.revision).toBe(before.revision + 1);
    expect(after.activity).toHaveLength(2);
    expect(after.activity[0]).toEqual({
      action: 'create',
      subjectKind: 'role',
      subjectName: 'Reader',
      actorName: 'root',
      changes: {
        description: { from: null, to: 'reads' },
        enabled: { from: null, to: true },
        skills: { from: null, to: [] },
      },
    });
    await expect
      .poll(() => heard)
      .toEqual([{ subject: subjects.event(w, 'catalogue'), body: { version: after.revision, statusVersion: 0 } }]);
  });

  test('that is refused leaves no trace', async () => {
    const w = await addWorkspace();
    await backend.must(makeRole, { w, input: { name: 'Reader' } });
    const before = await stateOf(w);
    heard.length = 0;
    const token = await backend.operatorToken();
    const refused = await backend.ask({ query: makeRole, variables: { w, input: { name: 'Reader' } }, token });
    expect(refused.code).toBe('conflict');
    const wrong = { name: 'with-tools', tools: [{ mcpServer: 'none', tool: 'x' }] };
    expect((await backend.ask({ query: makeSkill, variables: { w, input: wrong }, token })).code).toBe('not_found');
    expect(await stateOf(w)).toEqual(before);
    await backend.must(makeRole, { w, input: { name: 'Writer' } });
    await expect.poll(() => heard.length).toBe(1);
  });

  test('that changes nothing raises no revision, so that applying a file twice has no effect', async () => {
    const w = await addWorkspace();
    const { createRole } = await backend.must(makeRole, { w, input: { name: 'Reader', description: 'reads' } });
    const before = await stateOf(w);
    const input = { name: 'Reader', description: 'reads', enabled: true, skills: [] };
    const { updateRole } = await backend.must(patchRole, { w, id: createRole.id, input });
    expect(updateRole.version).toBe(createRole.version);
    expect(await stateOf(w)).toEqual(before);
  });

  test('by a member names the member', async () => {
    const w = await addWorkspace();
    const { token } = await backend.addMember(w, 'editor');
    await backend.ask({ query: makeRole, variables: { w, input: { name: 'Reader' } }, token });
    expect((await stateOf(w)).activity[0]?.actorName).toBe('editor');
  });

  test('long texts are only reported as changed', async () => {
    const w = await addWorkspace();
    const input = { name: 'long', instructions: 'x'.repeat(5000) };
    const { createSkill } = await backend.must(makeSkill, { w, input });
    await backend.must(
      'mutation ($w: ID!, $id: ID!) { updateSkill(workspace: $w, id: $id, input: { instructions: "short" }) { id } }',
      { w, id: createSkill.id },
    );
    expect((await stateOf(w)).activity[0]?.changes).toEqual({ instructions: 'changed' });
  });
});

describe('two concurrent changes', () => {
  test('of one version: exactly one is stored', async () => {
    const w = await addWorkspace();
    const { createRole } = await backend.must(makeRole, { w, input: { name: 'Reader' } });
    const token = await backend.operatorToken();
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((description) =>
        backend.ask({
          query: patchRole,
          variables: { w, id: createRole.id, input: { description, ifVersion: createRole.version } },
          token,
        }),
      ),
    );
    expect(answers.map(({ code }) => code).sort()).toEqual(['conflict', 'conflict', null]);
    expect((await stateOf(w)).revision).toBe(3);
  });

  test('of one name: exactly one is stored', async () => {
    const w = await addWorkspace();
    const token = await backend.operatorToken();
    const variables = { w, input: { name: 'Reader' } };
    const answers = await Promise.all([1, 2, 3].map(() => backend.ask({ query: makeRole, variables, token })));
    expect(answers.map(({ code }) => code).sort()).toEqual(['conflict', 'conflict', null]);
    expect(answers.find(({ code }) => code !== null)?.errors[0]?.message).toBe(
      'Another role is named "Reader" already.',
    );
  });

  test('of different nodes: both are stored, and both raise the revision', async () => {
    const w = await addWorkspace();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => backend.must(makeRole, { w, input: { name: `role ${i}` } })),
    );
    const { revision, activity } = await stateOf(w);
    expect([revision, activity.length]).toEqual([21, 21]);
  });
});

test('suspending and renaming a workspace make services ask again for the owners of its keys', async () => {
  const w = await addWorkspace();
  heard.length = 0;
  await backend.must('mutation ($w: ID!) { updateWorkspace(id: $w, input: { suspended: true }) { id } }', { w });
  const told = [subjects.event(w, 'catalogue'), subjects.event(w, 'key')];
  await expect.poll(() => heard.map(({ subject }) => subject)).toEqual(told);
  await backend.must(
    'mutation ($w: ID!, $n: String!) { updateWorkspace(id: $w, input: { suspended: false, name: $n }) { id } }',
    { w, n: `renamed ${count}` },
  );
  await expect.poll(() => heard.map(({ subject }) => subject)).toEqual([...told, ...told]);
});

describe('workspaces', () => {
  const create =
    'mutation ($name: String!, $email: String!) { createWorkspace(input: { name: $name, ownerEmail: $email }) { id revision owner { id email name } } }';

  test('belong to a person, in whatever case the address is written', async () => {
    const one = await backend.must(create, { name: 'of-ada', email: ' Ada@Example.com ' });
    const two = await backend.must(create, { name: 'of-ada-too', email: 'ada@example.com' });
    expect(one.createWorkspace).toMatchObject({ revision: 1, owner: { email: 'ada@example.com', name: 'ada' } });
    expect(two.createWorkspace.owner.id).toBe(one.createWorkspace.owner.id);
  });

  test('have unique names, and owners with an address', async () => {
    const token = await backend.operatorToken();
    const ask = (name: string, email: string) => backend.ask({ query: create, variables: { name, email }, token });
    expect((await ask('taken', 'a@b')).code).toBe(null);
    expect((await ask('taken', 'a@b')).errors[0]).toMatchObject({
      message: 'Another workspace is named "taken" already.',
      extensions: { code: 'conflict' },
    });
    for (const email of ['', 'ada', 'a@b@c', 'a b@c', `${'x'.repeat(255)}@b`]) {
      expect([email, (await ask('other', email)).code]).toEqual([email, 'invalid_input']);
    }
    expect((await ask('<b>', 'a@b')).code).toBe('invalid_input');
    const { workspace } = await backend.must('{ workspace(name: "other") { id } }');
    expect(workspace).toBe(null);
  });

  test('are not renamed to a name that is taken', async () => {
    const w = await addWorkspace();
    const rename = 'mutation ($w: ID!) { updateWorkspace(id: $w, input: { name: "taken" }) { id } }';
    const answer = await backend.ask({ query: rename, variables: { w }, token: await backend.operatorToken() });
    expect(answer.code).toBe('conflict');
  });
});

describe('roles', () => {
  test('carry skills, and lose them', async () => {
    const w = await addWorkspace();
    const skills: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      skills.push((await backend.must(makeSkill, { w, input: { name } })).createSkill.id);
    }
    const { createRole } = await backend.must(makeRole, { w, input: { name: 'R', skills: skills.slice(0, 2) } });
    const input = { name: 'Role', description: 'd', enabled: false, skills: skills.slice(1) };
    const { updateRole } = await backend.must(patchRole, { w, id: createRole.id, input });
    expect(updateRole).toMatchObject({
      name: 'Role',
      description: 'd',
      enabled: false,
      version: createRole.version + 1,
    });
    expect(updateRole.skills.map(({ name }: { name: string }) => name).sort()).toEqual(['three', 'two']);
    expect((await stateOf(w)).activity[0]?.changes).toEqual({
      name: { from: 'R', to: 'Role' },
      description: { from: '', to: 'd' },
      enabled: { from: true, to: false },
      skills: { from: ['one', 'two'], to: ['three', 'two'] },
    });
    await backend.must('mutation ($w: ID!, $id: ID!) { removeSkill(workspace: $w, id: $id) }', { w, id: skills[1] });
    const left = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { role(name: "Role") { skills { name } } } }',
      { w },
    );
    expect(left.workspace.role.skills).toEqual([{ name: 'three' }]);
    await backend.must('mutation ($w: ID!, $id: ID!) { removeRole(workspace: $w, id: $id) }', { w, id: createRole.id });
    expect((await stateOf(w)).activity[0]).toMatchObject({ action: 'remove', subjectName: 'Role' });
  });

  test('a change that is one version behind is reported as a conflict', async () => {
    const w = await addWorkspace();
    const { createRole } = await backend.must(makeRole, { w, input: { name: 'R' } });
    await backend.must(patchRole, { w, id: createRole.id, input: { description: 'new' } });
    const late = await backend.ask({
      query: patchRole,
      variables: { w, id: createRole.id, input: { description: 'late', ifVersion: createRole.version } },
      token: await backend.operatorToken(),
    });
    expect(late.errors[0]).toMatchObject({
      message: 'The role "R" was changed meanwhile by root: description from "" to "new".',
      extensions: { code: 'conflict', hint: 'Show the present state: svc role show "R". Then try again.' },
    });
  });
});

describe('skills', () => {
  test('take tools of MCP servers that have not listed them yet', async () => {
    const w = await addWorkspace();
    await backend.must(makeServer, { w, input: { name: 'files', launch: { command: 'node' } } });
    const tools = ['read', 'write', 'read'].map((tool) => ({ mcpServer: 'files', tool }));
    const { createSkill } = await backend.must(makeSkill, { w, input: { name: 'documents', tools } });
    expect(createSkill).toEqual({
      id: createSkill.id,
      tools: ['read', 'write'].map((originalName) => ({
        name: null,
        originalName,
        listed: false,
        mcpServer: { name: 'files' },
      })),
      mcpServers: [{ name: 'files' }],
      available: false,
    });
    expect((await stateOf(w)).activity[0]?.changes).toMatchObject({ tools: { to: ['files/read', 'files/write'] } });
    const { updateSkill } = await backend.must(
      `mutation ($w: ID!, $id: ID!, $tools: [ToolRef!]) {
        updateSkill(workspace: $w, id: $id, input: { tools: $tools }) { version tools { originalName } reason { code message } }
      }`,
      { w, id: createSkill.id, tools: [{ mcpServer: 'files', tool: 'list' }] },
    );
    expect(updateSkill).toMatchObject({ version: 2, tools: [{ originalName: 'list' }] });
    expect(updateSkill.reason).toMatchObject({ code: 'mcp_server_not_connected' });
    expect(updateSkill.reason.message).toContain('"files" is Disconnected');
  });

  test('a mistyped name is answered with the similar one', async () => {
    const w = await addWorkspace();
    await backend.must(makeServer, { w, input: { name: 'files', launch: { command: 'node' } } });
    const answer = await backend.ask({
      query: makeSkill,
      variables: { w, input: { name: 'documents', tools: [{ mcpServer: 'fiels', tool: 'read' }] } },
      token: await backend.operatorToken(),
    });
    expect(answer.errors[0]).toMatchObject({
      message: 'This workspace has no MCP server "fiels".',
      extensions: { code: 'not_found', hint: 'Did you mean "files"?' },
    });
  });

  test('instructions may be 256 KB long, and not a byte longer', async () => {
    const w = await addWorkspace();
    const fits = 'ü'.repeat(128 * 1024);
    await backend.must(makeSkill, { w, input: { name: 'fits', instructions: fits } });
    const answer = await backend.ask({
      query: makeSkill,
      variables: { w, input: { name: 'too-long', instructions: `${fits}.` } },
      token: await backend.operatorToken(),
    });
    expect(answer.code).toBe('too_large');
  });
});

describe('MCP servers', () => {
  test('keep their launch secret, and record names only', async () => {
    const w = await addWorkspace();
    const launch = {
      command: 'run-secretly',
      args: ['--token=argument-value'],
      env: [{ name: 'TOKEN', value: 'env-value' }],
    };
    const { createMcpServer } = await backend.must(makeServer, { w, input: { name: 'files', launch } });
    const { id } = createMcpServer;
    const update = (input: object) => backend.must(patchServer, { w, id, input });
    const same = await update({ launch, name: 'files', enabled: true });
    expect(same.updateMcpServer.version).toBe(1);
    const rotated = await update({ launch: { ...launch, env: [{ name: 'TOKEN', value: 'other-value' }] } });
    expect(rotated.updateMcpServer.launch.fingerprint).not.toBe(same.updateMcpServer.launch.fingerprint);
    await update({ launch: { ...launch, env: [{ name: 'KEY', value: 'env-value' }] } });
    await update({
      launch: { url: 'https://x.example/secret-path', headers: [{ name: 'X-Key', value: 'header-value' }] },
    });
    const { activity } = await stateOf(w);
    expect(activity.slice(0, 4).map(({ changes }) => changes)).toEqual([
      {
        command: 'changed',
        args: 'changed',
        settings: { from: ['KEY'], to: ['x-key'] },
        url: 'changed',
      },
      { settings: { from: ['TOKEN'], to: ['KEY'] } },
      { settings: 'changed', newValues: { from: null, to: ['TOKEN'] } },
      {
        kind: { from: null, to: 'child' },
        enabled: { from: null, to: true },
        command: 'changed',
        args: 'changed',
        settings: { from: [], to: ['TOKEN'] },
        setBy: { from: null, to: 'operator' },
      },
    ]);
    const everything = JSON.stringify(activity) + backend.logged.join('');
    for (const value of ['argument-value', 'env-value', 'other-value', 'header-value', 'secret-path', 'run-secretly']) {
      expect(everything).not.toContain(value);
    }
  });

  const remove = `mutation ($w: ID!, $id: ID!, $ifVersion: Int) {
    removeMcpServer(workspace: $w, id: $id, ifVersion: $ifVersion)
  }`;
  const ref = (mcpServer: string, tool: string) => ({ mcpServer, tool });

  test('name the skills that use their tools, which lose them at the removal', async () => {
    const w = await addWorkspace();
    const addServer = async (name: string) =>
      (await backend.must(makeServer, { w, input: { name, launch: { command: 'node' } } })).createMcpServer.id;
    const id = await addServer('files');
    await addServer('other');
    const tools = [ref('files', 'read'), ref('files', 'write'), ref('other', 'read')];
    await backend.must(makeSkill, { w, input: { name: 'documents', tools } });
    await backend.must(makeSkill, { w, input: { name: 'archive', tools: [ref('files', 'read')] } });
    await backend.must(makeSkill, { w, input: { name: 'apart', tools: [ref('other', 'read')] } });
    const skillsOf = async (first: number) => {
      const query = `query ($w: ID!, $id: ID!, $first: Int) {
        workspace(id: $w) { mcpServer(id: $id) { skills(first: $first) { name } } } }`;
      const { workspace } = await backend.must(query, { w, id, first });
      return workspace.mcpServer.skills.map(({ name }: { name: string }) => name);
    };
    expect(await skillsOf(100)).toEqual(['archive', 'documents']);
    expect(await skillsOf(1)).toHaveLength(1);
    await backend.must(remove, { w, id });
    const { workspace } = await backend.must(
      `query ($w: ID!) { workspace(id: $w) {
        mcpServers { nodes { name } } skills { nodes { name version tools { originalName mcpServer { name } } } } } }`,
      { w },
    );
    const left = [{ originalName: 'read', mcpServer: { name: 'other' } }];
    expect(workspace).toEqual({
      mcpServers: { nodes: [{ name: 'other' }] },
      skills: {
        nodes: [
          { name: 'apart', version: 1, tools: left },
          { name: 'archive', version: 2, tools: [] },
          { name: 'documents', version: 2, tools: left },
        ],
      },
    });
    const { activity } = await stateOf(w);
    const said = activity.slice(0, 3).map(({ action, subjectName, changes }) => ({ action, subjectName, changes }));
    expect(said).toContainEqual({ action: 'remove', subjectName: 'files', changes: {} });
    expect(said).toContainEqual({
      action: 'update',
      subjectName: 'documents',
      changes: { removedTools: { from: null, to: ['files/read', 'files/write'] } },
    });
    expect(said).toContainEqual({
      action: 'update',
      subjectName: 'archive',
      changes: { removedTools: { from: null, to: ['files/read'] } },
    });
  });

  test('are not removed after a change that the caller has not seen', async () => {
    const w = await addWorkspace();
    const { createMcpServer } = await backend.must(makeServer, { w, input: { name: 'a', launch: { command: 'x' } } });
    const { id } = createMcpServer;
    await backend.must(patchServer, { w, id, input: { enabled: false } });
    const token = await backend.operatorToken();
    const stale = await backend.ask({ query: remove, variables: { w, id, ifVersion: 1 }, token });
    expect(stale.code).toBe('conflict');
    const seen = await backend.ask({ query: remove, variables: { w, id, ifVersion: 2 }, token });
    expect(seen.code).toBe(null);
  });

  test('are not removed while more skills use them than one change may alter', async () => {
    const w = await addWorkspace();
    const { createMcpServer } = await backend.must(makeServer, { w, input: { name: 'a', launch: { command: 'x' } } });
    for (let at = 0; at < 501; at++) {
      await backend.must(makeSkill, { w, input: { name: `s${at}`, tools: [ref('a', 'read')] } });
    }
    const variables = { w, id: createMcpServer.id };
    const token = await backend.operatorToken();
    const refused = await backend.ask({ query: remove, variables, token });
    expect(refused.errors[0]).toMatchObject({
      message: 'More than 500 skills use tools of the MCP server "a".',
      extensions: { code: 'too_large' },
    });
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { skill(name: "s7") { id tools { id } } } }',
      { w },
    );
    expect(workspace.skill.tools).toHaveLength(1);
    await backend.must('mutation ($w: ID!, $id: ID!) { removeSkill(workspace: $w, id: $id) }', {
      w,
      id: workspace.skill.id,
    });
    expect((await backend.ask({ query: remove, variables, token })).code).toBe(null);
  }, 60_000);
});
