import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Assigned } from '../../contracts/bus/messages.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;
let member: string;
let viewer: string;
let count = 0;

beforeAll(async () => {
  backend = await startTestBackend();
  cloud = await connectCloudRuntime(backend);
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }',
  );
  w = createWorkspace.id;
  ({ token: member } = await backend.addMember(w, 'owner'));
  ({ token: viewer } = await backend.addMember(w, 'viewer'));
});
afterAll(() => backend.stop());

const shown = 'id launch { env { name value } headers { name value } settings { name title secret required isSet } }';
const create = `mutation ($w: ID!, $input: McpServerInput!) {
  createMcpServer(workspace: $w, input: $input) { ${shown} } }`;
const update = `mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) {
  updateMcpServer(workspace: $w, id: $id, input: $input) { ${shown} } }`;

const settings = [
  { name: 'TOKEN', title: 'Access token', description: 'From the account page of the service.' },
  { name: 'LEVEL', secret: false, required: false },
];
const launch = { command: 'npx', args: ['server'], settings };

async function add(given: object = launch) {
  const name = `s${++count}`;
  const { data, code } = await backend.ask({
    query: create,
    variables: { w, input: { name, launch: given } },
    token: member,
  });
  return { name, code, ...(data?.createMcpServer ?? {}) };
}

async function set(id: string, given: object) {
  const variables = { w, id, input: { launch: given } };
  const { data, code } = await backend.ask({ query: update, variables, token: member });
  return { code, launch: data?.updateMcpServer.launch };
}

async function assigned(name: string): Promise<Assigned | undefined> {
  const { assignments } = await cloud.shakeHands(undefined, undefined, { confinesMembers: true });
  return assignments?.find((one) => one.name === name);
}

test('without the value of a required setting, the MCP server is not started, and the reason names it', async () => {
  const { name, launch: view } = await add();
  expect(view.settings).toEqual([
    { name: 'TOKEN', title: 'Access token', secret: true, required: true, isSet: false },
    { name: 'LEVEL', title: '', secret: false, required: false, isSet: false },
  ]);
  const refused = await assigned(name);
  expect(refused).not.toHaveProperty('launch');
  expect(refused).toHaveProperty('refused', {
    code: 'missing_settings',
    message: `It is not started: the required setting env.TOKEN has no value.`,
    repair: `Set it: svc server update ${name} --env TOKEN`,
  });
});

test('a value starts it, stays secret, and is missing again when it is removed or empty', async () => {
  const { id, name } = await add();
  const before = await assigned(name);
  const env = [{ name: 'TOKEN', value: 'the-secret', secret: false }];
  const { launch: view } = await set(id, { command: 'npx', args: ['server'], env });
  expect(view.env).toEqual([{ name: 'TOKEN', value: null }]);
  expect(view.settings[0]).toMatchObject({ name: 'TOKEN', isSet: true });
  const after = await assigned(name);
  expect(after).toHaveProperty('launch.env', { TOKEN: 'the-secret' });
  expect(after?.configVersion).toBe((before?.configVersion ?? 0) + 1);

  await set(id, { command: 'npx', args: ['server'], env: [{ name: 'TOKEN', value: '' }] });
  expect(await assigned(name)).toHaveProperty('refused.code', 'missing_settings');
  await set(id, { command: 'npx', args: ['server'], env: [{ name: 'TOKEN', value: 'b' }] });
  await set(id, { command: 'npx', args: ['server'], env: [] });
  expect(await assigned(name)).toHaveProperty('refused.code', 'missing_settings');
});

test('a name that every object has is not set without a value', async () => {
  const { name, launch: view } = await add({ command: 'npx', settings: [{ name: 'constructor' }] });
  expect(view.settings[0]).toMatchObject({ name: 'constructor', isSet: false });
  expect(await assigned(name)).toHaveProperty('refused.code', 'missing_settings');
});

test('a header is required in any case, and a setting that is no longer required starts the MCP server', async () => {
  const { id, name } = await add({ url: 'https://crm.example/mcp', settings: [{ name: 'X-Key' }] });
  expect(await assigned(name)).toHaveProperty('refused.message', expect.stringContaining('headers.x-key'));
  await set(id, { url: 'https://crm.example/mcp', settings: [{ name: 'X-Key', required: false }] });
  expect(await assigned(name)).toHaveProperty('launch.headers', {});
});

test('declarations of a command do not hold for an address', async () => {
  const { id } = await add();
  expect((await set(id, { url: 'https://crm.example/mcp' })).launch.settings).toEqual([]);
});

test('activity has the names of required settings, and no text or value', async () => {
  await add({ ...launch, env: [{ name: 'TOKEN', value: 'the-secret' }] });
  const { workspace } = await backend.must(
    'query ($w: ID!) { workspace(id: $w) { activity(first: 1) { nodes { changes } } } }',
    { w },
  );
  const [{ changes }] = workspace.activity.nodes;
  expect(JSON.parse(changes)).toMatchObject({ requiredSettings: { from: [], to: ['TOKEN'] } });
  expect(changes).not.toMatch(/the-secret|Access token/);
});

test('a viewer sees no settings and declares none', async () => {
  const { id } = await add();
  const query =
    'query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) { launch { settings { name } } } } }';
  const { data } = await backend.ask({ query, variables: { w, id }, token: viewer });
  expect(data.workspace.mcpServer.launch).toBeNull();
  const { code } = await backend.ask({ query: update, variables: { w, id, input: { launch } }, token: viewer });
  expect(code).toBe('forbidden');
});

test.each([
  ['a name that is none', [{ name: 'no name' }]],
  ['a name twice', [{ name: 'A' }, { name: 'A' }]],
  ['a title of two lines', [{ name: 'A', title: 'one\ntwo' }]],
  ['a title with a hidden character', [{ name: 'A', title: 'To\u202eken' }]],
  ['a title that is too long', [{ name: 'A', title: 'a'.repeat(81) }]],
  ['a description that is too long', [{ name: 'A', description: 'a'.repeat(301) }]],
  ['too many', Array.from({ length: 33 }, (_, at) => ({ name: `A${at}` }))],
])('refuses %s', async (_name, wrong) => {
  expect((await add({ ...launch, settings: wrong })).code).toBe('invalid_input');
});

test('refuses a header of the connection as a setting', async () => {
  const wrong = { url: 'https://crm.example/mcp', settings: [{ name: 'Host' }] };
  expect((await add(wrong)).code).toBe('invalid_input');
});
