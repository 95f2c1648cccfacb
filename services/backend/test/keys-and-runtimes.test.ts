import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyReply, type UsageRecord } from '../../contracts/bus/messages.ts';
import { streams, subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { Secret } from '../../contracts/secret.ts';
import { type Bus, payloadMaxBytes } from '../../kit/bus/bus.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

/** The machine may be busy with other work. */
const patiently = { timeout: 10_000 };

let backend: TestBackend;
let remoteMcp: Bus;
const systemKeys = { remoteMcp: newKey('system'), runtime: newKey('system') };

beforeAll(async () => {
  backend = await startTestBackend({ PUBLIC_BUS_SERVERS: 'bus.example.com:4222' });
  const register = 'mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }';
  await backend.must(register, { input: { component: 'remote-mcp', key: systemKeys.remoteMcp.reveal() } });
  const runtimeNames = ['cloud'];
  await backend.must(register, { input: { component: 'runtime', key: systemKeys.runtime.reveal(), runtimeNames } });
  const credentials = { kind: 'system', key: systemKeys.remoteMcp, component: 'remote-mcp' } as const;
  remoteMcp = await backend.hub.connect(credentials, newProcessId());
});
afterAll(async () => {
  await remoteMcp.close();
  await backend.stop();
});

let count = 0;
async function newWorkspace(): Promise<string> {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@example.com" }) { id } }',
    { name: `workspace-${count++}` },
  );
  return createWorkspace.id;
}

const create = `mutation ($w: ID!, $input: KeyInput!) {
  createKey(workspace: $w, input: $input) { secret key { id name hint state expiresAt lastUsedAt roles { name } } }
}`;
const list = `query ($w: ID!) {
  workspace(id: $w) { keys { nodes { id name hint state expiresAt revokedAt lastUsedAt roles { name } } } }
}`;

describe('keys', () => {
  test('are created, found by their purpose, used and revoked', async () => {
    const w = await newWorkspace();
    const { createRole } = await backend.must(
      'mutation ($w: ID!) { createRole(workspace: $w, input: { name: "Support" }) { id } }',
      { w },
    );
    const expiresAt = Date.now() + 60_000;
    const input = { name: 'laptop', roles: [createRole.id], expiresAt };
    const { secret, key } = (await backend.must(create, { w, input })).createKey;
    expect(key).toMatchObject({ name: 'laptop', state: 'valid', expiresAt, lastUsedAt: null });
    expect(key.roles).toEqual([{ name: 'Support' }]);
    expect(secret.endsWith(key.hint.slice(-4))).toBe(true);

    const body = toBody({ key: secret });
    const { payload } = await remoteMcp.request(subjects.key(remoteMcp.identity.process), body, { timeoutMs: 5000 });
    expect(parseBody(keyReply, payload, payloadMaxBytes)).toMatchObject({
      ok: true,
      principal: { key: key.id, workspace: w, roles: [createRole.id] },
    });
    const lastUsedAt = async () => (await backend.must(list, { w })).workspace.keys.nodes[0].lastUsedAt;
    await expect.poll(lastUsedAt, patiently).toBeGreaterThan(0);

    const { revokeKey } = await backend.must(
      'mutation ($w: ID!) { revokeKey(workspace: $w, key: "laptop") { id state revokedAt } }',
      { w },
    );
    expect(revokeKey).toMatchObject({ id: key.id, state: 'revoked', revokedAt: expect.any(Number) });
    const listed = await backend.must(list, { w });
    expect(listed.workspace.keys.nodes).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect(backend.logged.join('')).not.toContain(secret);
  });

  test('without explicit roles say so', async () => {
    const w = await newWorkspace();
    const { createKey } = await backend.must(create, { w, input: { name: 'laptop' } });
    expect(createKey.key).toMatchObject({ roles: null, expiresAt: null });
  });

  test('that are past their expiry are labelled', async () => {
    const w = await newWorkspace();
    await backend.must(create, { w, input: { name: 'laptop', expiresAt: Date.now() + 2000 } });
    const state = async () => (await backend.must(list, { w })).workspace.keys.nodes[0].state;
    await expect.poll(state, patiently).toBe('expired');
  });

  test('are not listed for members who may not create them', async () => {
    const w = await newWorkspace();
    const { token } = await backend.addMember(w as ReturnType<typeof newId<'workspace'>>, 'editor');
    expect(await backend.ask({ query: list, variables: { w }, token })).toMatchObject({ code: 'forbidden' });
  });
});

test('own keys and runtimes are found by words of their names', async () => {
  const w = await newWorkspace();
  const { token } = await backend.addMember(w as ReturnType<typeof newId<'workspace'>>, 'viewer');
  for (const name of ['laptop-of-ann', 'night-job']) {
    expect(await backend.ask({ query: create, variables: { w, input: { name } }, token })).toMatchObject({
      code: null,
    });
  }
  await backend.must(create, { w, input: { name: 'laptop-of-owner' } });
  for (const name of ['laptop-office', 'cellar']) {
    await backend.must(`mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { secret } }`, {
      ...{ w, n: name },
    });
  }
  const query = `query ($w: ID!, $s: String) {
    workspace(id: $w) { ownKeys(search: $s) { name } runtimes(search: $s) { nodes { name } } }
  }`;
  const found = async (s: string | null) => {
    const { ownKeys, runtimes } = (await backend.ask({ query, variables: { w, s }, token })).data.workspace;
    return [...ownKeys, ...runtimes.nodes].map(({ name }: { name: string }) => name);
  };
  expect(await found('LAP')).toEqual(['laptop-of-ann', 'laptop-office']);
  expect(await found('office laptop')).toEqual(['laptop-office']);
  expect(await found('aptop')).toEqual([]);
  expect(await found(null)).toEqual(['laptop-of-ann', 'night-job', 'laptop-office', 'cellar']);
  const tooLong = await backend.ask({ query, variables: { w, s: 'x'.repeat(257) }, token });
  expect(tooLong.code).toBe('invalid_input');
});

describe('runtimes', () => {
  test('of a workspace are registered, listed and revoked', async () => {
    const w = await newWorkspace();
    const { registerRuntime } = await backend.must(
      `mutation ($w: ID!) {
        registerRuntime(workspace: $w, name: "office") {
          secret busServers authority version runtime { id name platform available runningCalls }
        }
      }`,
      { w },
    );
    const { runtime, secret, busServers } = registerRuntime;
    expect(busServers).toEqual(['bus.example.com:4222']);
    expect(registerRuntime).toMatchObject({ authority: null, version: '0.0.0' });
    expect(runtime).toMatchObject({ name: 'office', platform: false, available: false, runningCalls: 0 });
    expect(secret).toMatch(/^RTK_/);
    const listed = () =>
      backend.must('query ($w: ID!) { workspace(id: $w) { runtimes { nodes { id name } } } }', { w });
    expect((await listed()).workspace.runtimes.nodes).toEqual([{ id: runtime.id, name: 'office' }]);
    await backend.must('mutation ($w: ID!, $id: ID!) { revokeRuntime(workspace: $w, id: $id) }', {
      ...{ w, id: runtime.id },
    });
    expect((await listed()).workspace.runtimes.nodes).toEqual([]);
    expect(backend.logged.join('')).not.toContain(secret);
  });

  test('of the platform are available while they send heartbeats, and visible to operators only', async () => {
    const query = '{ platformRuntimes { nodes { name platform available lastHeartbeatAt } } }';
    const credentials = {
      kind: 'system',
      key: systemKeys.runtime,
      component: 'runtime',
      runtimeName: 'cloud',
    } as const;
    const bus = await backend.hub.connect(credentials, newProcessId());
    if (bus.identity.kind !== 'runtime') throw new Error(`connected as ${bus.identity.kind}`);
    const beat = { at: Date.now(), inFlight: 0, intervalMs: 5000, version: '1' };
    bus.publish(subjects.heartbeat(bus.identity.runtime, bus.identity.process), toBody(beat));
    const cloud = async () => (await backend.must(query)).platformRuntimes.nodes[0];
    await expect.poll(cloud, patiently).toEqual({
      ...{ name: 'cloud', platform: true, available: true },
      lastHeartbeatAt: expect.any(Number),
    });
    await bus.close();
    await expect.poll(cloud, patiently).toMatchObject({ available: false });

    const w = await newWorkspace();
    const { token } = await backend.addMember(w as ReturnType<typeof newId<'workspace'>>, 'owner');
    expect(await backend.ask({ query, token })).toMatchObject({ code: 'forbidden' });
  });

  test('are told to the members of a workspace: the own ones with their load, the platform’s without', async () => {
    const w = await newWorkspace();
    const member = async (role: 'viewer' | 'admin') =>
      (await backend.addMember(w as ReturnType<typeof newId<'workspace'>>, role)).token;
    const [viewer, admin] = [await member('viewer'), await member('admin')];
    const { registerRuntime } = await backend.must(
      `mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { secret runtime { id } } }`,
      { w },
    );
    const key = new Secret(registerRuntime.secret);
    const bus = await backend.hub.connect({ kind: 'runtime', key }, newProcessId());
    if (bus.identity.kind !== 'runtime') throw new Error(`connected as ${bus.identity.kind}`);
    const beat = { at: Date.now(), inFlight: 3, intervalMs: 5000, version: '1' };
    bus.publish(subjects.heartbeat(bus.identity.runtime, bus.identity.process), toBody(beat));
    const query = `query ($w: ID!) { workspace(id: $w) {
      runtimes { nodes { name available runningCalls } } platformRuntimes { name platform available runningCalls }
    } }`;
    const seen = async () => (await backend.ask({ query, variables: { w }, token: viewer })).data;
    await expect.poll(seen, patiently).toEqual({
      workspace: {
        runtimes: { nodes: [{ name: 'office', available: true, runningCalls: 3 }] },
        platformRuntimes: [{ name: 'cloud', platform: true, available: false, runningCalls: null }],
      },
    });
    await bus.close();
    await expect.poll(seen, patiently).toMatchObject({ workspace: { runtimes: { nodes: [{ runningCalls: 0 }] } } });

    const servers = { query: 'query ($w: ID!) { workspace(id: $w) { busServers } }', variables: { w } };
    expect(await backend.ask({ ...servers, token: viewer })).toMatchObject({ code: 'forbidden' });
    expect((await backend.ask({ ...servers, token: admin })).data.workspace.busServers).toEqual([
      'bus.example.com:4222',
    ]);
  });

  test('have the MCP servers that are bound to them, and the platform’s has the others', async () => {
    const w = await newWorkspace();
    const { registerRuntime } = await backend.must(
      `mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { runtime { id } } }`,
      { w },
    );
    const office = registerRuntime.runtime.id;
    const add = (name: string, more = '') =>
      `${name}: createMcpServer(workspace: "${w}", input: { name: "${name}", launch: { command: "x" } ${more} }) { id }`;
    await backend.must(`mutation { ${add('a')} ${add('b', 'runtime: "office"')} ${add('c')} }`);
    const { workspace } = await backend.must('query ($w: ID!) { workspace(id: $w) { platformRuntimes { id } } }', {
      w,
    });
    const query = `query ($w: ID!, $r: ID) { workspace(id: $w) { mcpServers(runtime: $r) { nodes { name } } } }`;
    const namesOn = async (r: string | null) =>
      (await backend.must(query, { w, r })).workspace.mcpServers.nodes.map(({ name }: { name: string }) => name);
    expect(await namesOn(office)).toEqual(['b']);
    expect(await namesOn(workspace.platformRuntimes[0].id)).toEqual(['a', 'c']);
    expect(await namesOn(newId('runtime'))).toEqual([]);
    expect(await namesOn(null)).toEqual(['a', 'b', 'c']);
    const mistaken = { query, variables: { w, r: 'office' }, token: await backend.operatorToken() };
    expect(await backend.ask(mistaken)).toMatchObject({ code: 'invalid_input' });
  });
});

test('a runtime gets the authority of the bus, and without its file no key is made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-authority-'));
  const file = join(folder, 'ca.pem');
  await writeFile(file, 'PEM of the authority');
  const secured = await startTestBackend({ BUS_CA_PATH: file });
  const { createWorkspace } = await secured.must(
    'mutation { createWorkspace(input: { name: "Secured", ownerEmail: "owner@example.com" }) { id } }',
  );
  const w = createWorkspace.id;
  const query = 'mutation ($w: ID!) { registerRuntime(workspace: $w, name: "office") { authority } }';
  expect((await secured.must(query, { w })).registerRuntime.authority).toBe('PEM of the authority');
  await rm(folder, { recursive: true });
  const refused = await secured.ask({
    query: query.replace('office', 'other'),
    variables: { w },
    token: await secured.operatorToken(),
  });
  expect([refused.code, refused.errors[0]?.message]).toEqual([
    'unavailable',
    'The certificate authority of the bus cannot be read. Nothing was registered.',
  ]);
  const list = await secured.must('query ($w: ID!) { workspace(id: $w) { runtimes { nodes { name } } } }', { w });
  expect(list.workspace.runtimes.nodes).toEqual([{ name: 'office' }]);
  await secured.stop();
});

test('usage is listed by name, by id if the name no longer exists, and between two times', async () => {
  const w = await newWorkspace();
  const { createKey } = await backend.must(create, { w, input: { name: 'laptop' } });
  const { createMcpServer } = await backend.must(
    'mutation ($w: ID!) { createMcpServer(workspace: $w, input: { name: "files", launch: { command: "x" } }) { id } }',
    { w },
  );
  const tool = newId('tool');
  const hour = Date.parse('2026-01-01T10:00:00Z');
  const record = (at: number) => ({
    ...{ workspace: w, key: createKey.key.id, at },
    call: { mcpServer: createMcpServer.id, tool, skill: null, outcome: 'ok', durationMs: 7 },
  });
  await remoteMcp.stream(streams.usage).append(toBody([record(hour), record(hour + 3_600_000)] as UsageRecord[]));
  const rows = async (args = '') =>
    (
      await backend.must(
        `query ($w: ID!) { workspace(id: $w) { usage${args} {
        nodes { hour key tool skill mcpServer calls errors durationMs }
      } } }`,
        { w },
      )
    ).workspace.usage.nodes;
  await expect.poll(rows, patiently).toHaveLength(2);
  expect(await rows()).toEqual([
    {
      hour: hour + 3_600_000,
      key: 'laptop',
      tool,
      skill: null,
      mcpServer: 'files',
      calls: 1,
      errors: 0,
      durationMs: 7,
    },
    { hour, key: 'laptop', tool, skill: null, mcpServer: 'files', calls: 1, errors: 0, durationMs: 7 },
  ]);
  expect(await rows(`(from: ${hour}, to: ${hour + 3_600_000})`)).toMatchObject([{ hour }]);
});
