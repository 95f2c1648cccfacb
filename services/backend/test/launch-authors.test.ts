import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Assigned } from '../../contracts/bus/messages.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { openSecrets } from '../secrets/secrets.ts';
import { decryptLaunch } from '../servers/launch.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;
let member: string;
let operator: string;
let count = 0;

beforeAll(async () => {
  backend = await startTestBackend();
  cloud = await connectCloudRuntime(backend);
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }',
  );
  w = createWorkspace.id;
  ({ token: member } = await backend.addMember(w, 'owner'));
  operator = await backend.operatorToken();
  await backend.must('mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { secret } }', { w });
});
afterAll(() => backend.stop());

const launch = { command: 'npx', args: ['server'], env: [{ name: 'TOKEN', value: 'a' }], cwd: '/srv/a' };
const create =
  'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id launch { setBy } } }';
const update = `mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) {
  updateMcpServer(workspace: $w, id: $id, input: $input) { launch { setBy } } }`;

async function add(token: string, given: object = launch): Promise<{ id: string; name: string; setBy: string }> {
  const name = `s${++count}`;
  const { data, code } = await backend.ask({ query: create, variables: { w, input: { name, launch: given } }, token });
  expect(code).toBe(null);
  return { id: data.createMcpServer.id, name, setBy: data.createMcpServer.launch.setBy };
}

async function change(token: string, id: string, input: object): Promise<string> {
  const { data, code } = await backend.ask({ query: update, variables: { w, id, input }, token });
  expect(code).toBe(null);
  return data.updateMcpServer.launch.setBy;
}

async function assignedTo(confinesMembers: boolean | undefined, name: string): Promise<Assigned | undefined> {
  const { assignments } = await cloud.shakeHands(undefined, undefined, { confinesMembers });
  return assignments?.find((one) => one.name === name);
}

test('the caller that sets a launch is its author', async () => {
  expect((await add(operator)).setBy).toBe('operator');
  expect((await add(member)).setBy).toBe('member');
});

test.each([
  ['the command', { launch: { ...launch, command: 'sh' } }],
  ['an argument', { launch: { ...launch, args: ['server', '--all'] } }],
  ['a variable alone', { launch: { ...launch, env: [{ name: 'TOKEN', value: 'b' }] } }],
  ['a variable more', { launch: { ...launch, env: [...launch.env, { name: 'LD_PRELOAD', value: '/srv/a/x.so' }] } }],
  ['the working directory alone', { launch: { ...launch, cwd: '/root' } }],
  ['a command to an address', { launch: { url: 'http://localhost:1/mcp' } }],
  ['the runtime that it runs on', { runtime: 'office', launch }],
])('a member who changes %s of an operator’s launch becomes the author of all of it', async (_name, input) => {
  const { id } = await add(operator);
  expect(await change(member, id, input)).toBe('member');
});

test.each([
  ['the name', () => ({ name: `renamed${++count}` })],
  ['whether it is enabled', () => ({ enabled: false })],
  ['the launch to the same', () => ({ launch })],
])('a member who changes %s leaves the launch the operator’s', async (_name, input) => {
  const { id } = await add(operator);
  expect(await change(member, id, input())).toBe('operator');
});

test('an operator becomes the author by giving the whole launch, and by nothing less', async () => {
  const { id, name } = await add(member);
  expect(await change(operator, id, { enabled: true, runtime: 'office' })).toBe('member');
  expect(await change(operator, id, { runtime: '' })).toBe('member');
  const before = await assignedTo(true, name);
  expect(await change(operator, id, { launch })).toBe('operator');
  const after = await assignedTo(true, name);
  expect(before).toMatchObject({ setBy: 'member' });
  expect(after).toMatchObject({ setBy: 'operator' });
  // The version is new, so the MCP server restarts.
  expect(after?.configVersion).toBe((before?.configVersion ?? 0) + 1);
});

test('activity names the author', async () => {
  const { id } = await add(operator);
  await change(member, id, { launch: { ...launch, command: 'sh' } });
  const { workspace } = await backend.must(
    'query ($w: ID!) { workspace(id: $w) { activity(first: 1) { nodes { changes } } } }',
    { w },
  );
  expect(JSON.parse(workspace.activity.nodes[0].changes)).toEqual({
    command: 'changed',
    setBy: { from: 'operator', to: 'member' },
  });
});

test('a runtime that cannot confine members gets no command or URL of theirs, but everything else', async () => {
  const [theirs, ours, url] = [
    await add(member),
    await add(operator),
    await add(member, { url: 'http://localhost:1/mcp' }),
  ];
  for (const confines of [undefined, false]) {
    for (const { name } of [theirs, url]) {
      const refused = await assignedTo(confines, name);
      expect(refused).toMatchObject({
        refused: {
          code: 'runtime_outdated',
          message: expect.stringContaining(`set the launch of "${name}"`),
          repair: expect.stringContaining('Update the program of the runtime'),
        },
      });
      expect(refused).not.toHaveProperty('launch');
    }
    expect(await assignedTo(confines, ours.name)).toMatchObject({ launch: { command: 'npx' } });
  }
  expect(await assignedTo(true, theirs.name)).toMatchObject({ launch: { command: 'npx' }, setBy: 'member' });
  expect(await assignedTo(true, url.name)).toMatchObject({ launch: { kind: 'http' }, setBy: 'member' });
});

test('two processes of one runtime, one of an older version, each get their own launches', async () => {
  const { name } = await add(member);
  const { etag } = await cloud.shakeHands(undefined, undefined, { confinesMembers: true });
  const older = await cloud.shakeHands(etag, undefined, {});
  expect(older.assignments?.find((one) => one.name === name)).toHaveProperty('refused');
  const same = await cloud.shakeHands(etag, undefined, { confinesMembers: true });
  expect(same.assignments).toBeNull();
});

test('a launch stored without an author counts as the operator’s', () => {
  const secrets = openSecrets({ present: new Secret('ab'.repeat(32)), previous: undefined });
  const id = newId('mcpServer');
  const kept = { kind: 'child', command: 'npx', args: [], cwd: null, env: {} };
  const text = secrets.encrypt(new Secret(JSON.stringify(kept)), { node: id, field: 'launch' });
  expect(decryptLaunch({ secrets, config: { INSTALLATION_DIR: undefined } }, { id, launch: text })).toEqual({
    launch: kept,
    plain: [],
    declared: [],
    setBy: 'operator',
  });
});
