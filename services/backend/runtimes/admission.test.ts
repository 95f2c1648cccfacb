import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import { Secret as SecretValue } from '../../contracts/secret.ts';
import { runtimesMax } from '../../contracts/workspace-limits.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { openSecrets } from '../secrets/secrets.ts';
import {
  addMember,
  addWorkspace,
  getWorkspace,
  openTestBackend,
  operator,
  type TestBackend,
} from '../test/open-test-backend.ts';
import { createAuthorizer } from './authorize.ts';
import { registerRuntime } from './register-runtime.ts';
import { revokeRuntime } from './revoke-runtime.ts';

let backend: TestBackend;
const process = newProcessId();
const keys = { remoteMcp: newKey('system'), runtime: newKey('system') };

beforeAll(async () => {
  backend = await openTestBackend({ PUBLIC_BUS_SERVERS: 'bus.example.com:4222' });
  backend.bus.authorize(createAuthorizer(backend));
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: keys.remoteMcp.reveal() });
  const runtimeNames = ['cloud', 'cloud-eu'];
  await registerSystemKey(backend, operator, { component: 'runtime', key: keys.runtime.reveal(), runtimeNames });
});
afterAll(() => backend.close());

const asRemoteMcp = (key: Secret) =>
  createAuthorizer(backend)({ kind: 'system', key, component: 'remote-mcp' }, process);
const asCloud = (key: Secret, runtimeName = 'cloud') =>
  createAuthorizer(backend)({ kind: 'system', key, component: 'runtime', runtimeName }, process);
const asRuntime = (key: Secret) => createAuthorizer(backend)({ kind: 'runtime', key }, process);

let count = 0;
const newWorkspace = () => addWorkspace(backend, `workspace-${count++}`);

describe('a system key', () => {
  test('of remote-mcp admits remote-mcp', async () => {
    expect(await asRemoteMcp(keys.remoteMcp)).toEqual({ kind: 'remote-mcp', process });
  });

  test("of a runtime admits the platform's runtime of that name, created on its first use and the same ever after", async () => {
    const first = await asCloud(keys.runtime);
    expect(first).toMatchObject({ kind: 'runtime', name: 'cloud', workspace: null, process });
    expect(await asCloud(keys.runtime)).toEqual(first);
    expect(await asCloud(keys.runtime, 'cloud-eu')).not.toMatchObject({ runtime: Reflect.get(first, 'runtime') });
  });

  test('two processes that connect at once get the same runtime', async () => {
    const key = newKey('system');
    await registerSystemKey(backend, operator, { component: 'runtime', key: key.reveal(), runtimeNames: ['twins'] });
    const [one, other] = await Promise.all([asCloud(key, 'twins'), asCloud(key, 'twins')]);
    expect(one).toEqual(other);
  });

  test.each<[string, () => Promise<unknown>, string, RegExp]>([
    ['of remote-mcp, by a runtime', () => asCloud(keys.remoteMcp), 'forbidden', /is for remote-mcp, not for runtime/],
    ['of a runtime, by remote-mcp', () => asRemoteMcp(keys.runtime), 'forbidden', /is for runtime, not for remote-mcp/],
    ['with another name', () => asCloud(keys.runtime, 'mine'), 'forbidden', /RUNTIME_NAME is "mine".*"cloud"/],
    ['that is not registered', () => asRemoteMcp(newKey('system')), 'unauthenticated', /SYSTEM_KEY is not known/],
    ['that is a runtime key', () => asRemoteMcp(newKey('runtime')), 'unauthenticated', /it is a runtime key/],
    ['that is a user key', () => asCloud(newKey('user')), 'unauthenticated', /it is a user key/],
    ['that is not a key', () => asRemoteMcp(new SecretValue('x')), 'unauthenticated', /"unknown_prefix"/],
  ])('is refused %s', async (_name, connect, code, message) => {
    await expect(connect()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('is still known under the previous encryption key', async () => {
    const secrets = openSecrets({
      present: new SecretValue('cd'.repeat(32)),
      previous: backend.config.ENCRYPTION_KEY,
    });
    const authorize = createAuthorizer({ ...backend, secrets });
    const credentials = { kind: 'system', key: keys.remoteMcp, component: 'remote-mcp' } as const;
    expect(await authorize(credentials, process)).toMatchObject({ kind: 'remote-mcp' });
  });
});

describe('registering a system key', () => {
  test('again changes nothing, with other names replaces them', async () => {
    const key = newKey('system');
    const input = { component: 'runtime', key: key.reveal(), runtimeNames: ['one'] };
    await registerSystemKey(backend, operator, input);
    await registerSystemKey(backend, operator, input);
    await registerSystemKey(backend, operator, { ...input, runtimeNames: ['two'] });
    await expect(asCloud(key, 'one')).rejects.toMatchObject({ code: 'forbidden' });
    expect(await asCloud(key, 'two')).toMatchObject({ name: 'two' });
  });

  test('stores only its digest and a ciphertext', async () => {
    const digest = backend.secrets.digest(keys.remoteMcp);
    const node = await backend.graph.findBy('systemKey', { digest }, null);
    expect(JSON.stringify(node)).not.toContain(keys.remoteMcp.reveal());
    const place = { node: node?.id ?? '', field: 'ciphertext' };
    expect(backend.secrets.decrypt(node?.ciphertext ?? '', place).reveal()).toBe(keys.remoteMcp.reveal());
  });

  const key = newKey('system').reveal();
  test.each([
    ['for another component', { component: 'runtime', key: keys.remoteMcp.reveal(), runtimeNames: ['x'] }, 'conflict'],
    ['for an unknown component', { component: 'backend', key }, 'invalid_input'],
    ['of a runtime without names', { component: 'runtime', key }, 'invalid_input'],
    ['of a runtime with a bad name', { component: 'runtime', key, runtimeNames: ['a\nb'] }, 'invalid_input'],
    ['of remote-mcp with names', { component: 'remote-mcp', key, runtimeNames: ['x'] }, 'invalid_input'],
    ['that is a user key', { component: 'remote-mcp', key: newKey('user').reveal() }, 'invalid_input'],
    ['with a typo', { component: 'remote-mcp', key: `${key.slice(0, -1)}_` }, 'invalid_input'],
  ])('is refused %s, and never repeats the key', async (_name, input, code) => {
    await expect(registerSystemKey(backend, operator, input)).rejects.toMatchObject({
      code,
      message: expect.not.stringContaining(input.key),
    });
  });

  test('is for operators', async () => {
    const { owner } = await newWorkspace();
    const input = { component: 'remote-mcp', key: newKey('system').reveal() };
    await expect(registerSystemKey(backend, owner, input)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a runtime key', () => {
  test('admits one runtime of one workspace', async () => {
    const { id, owner } = await newWorkspace();
    const { runtime, secret, busServers } = await registerRuntime(backend, owner, { workspace: id, name: 'office' });
    expect(secret.reveal()).toMatch(/^RTK_[0-9A-Za-z]{49}$/);
    expect(busServers).toEqual(['bus.example.com:4222']);
    expect(await asRuntime(secret)).toEqual({
      ...{ kind: 'runtime', process, name: 'office' },
      runtime: runtime.id,
      workspace: id,
      key: expect.stringMatching(/^key_/),
    });
  });

  test("comes with the bus's address for outside clients, or the platform's own address if there is none", async () => {
    const { id, owner } = await newWorkspace();
    const told = async (config: Partial<TestBackend['config']>) =>
      (
        await registerRuntime({ ...backend, config: { ...backend.config, ...config } }, owner, {
          ...{ workspace: id, name: 'office' },
        })
      ).busServers;
    const BUS_SERVERS = ['nats://127.0.0.1:4222'];
    expect(await told({ BUS_SERVERS, PUBLIC_BUS_SERVERS: ['tls://bus.example.com:4222'] })).toEqual([
      'tls://bus.example.com:4222',
    ]);
    expect(await told({ BUS_SERVERS, PUBLIC_BUS_SERVERS: undefined })).toEqual(BUS_SERVERS);
    expect(await told({ BUS_SERVERS: ['inproc:'], PUBLIC_BUS_SERVERS: undefined })).toEqual([]);
  });

  test("of the platform's own runtime is issued by operators alone", async () => {
    const { owner } = await newWorkspace();
    const request = { workspace: null, name: 'metal' };
    await expect(registerRuntime(backend, owner, request)).rejects.toMatchObject({ code: 'forbidden' });
    const { secret } = await registerRuntime(backend, operator, request);
    expect(await asRuntime(secret)).toMatchObject({ name: 'metal', workspace: null });
  });

  test('is renewed under the same name: the earlier key stays valid for a day', async () => {
    const { id, owner } = await newWorkspace();
    const first = await registerRuntime(backend, owner, { workspace: id, name: 'office' });
    const second = await registerRuntime(backend, owner, { workspace: id, name: 'office' });
    expect(second.runtime.id).toBe(first.runtime.id);
    const [before, present] = [await asRuntime(first.secret), await asRuntime(second.secret)];
    expect(before).toEqual({ ...present, key: expect.anything() });
    expect(before).not.toEqual(present);
    const digest = backend.secrets.digest(first.secret);
    const old = await backend.graph.findBy('runtimeKey', { digest }, null);
    const hour = 60 * 60 * 1000;
    expect((old?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(23 * hour);
    expect((old?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(24 * hour);
    await backend.graph.write(async (transaction) => {
      if (old !== null) await transaction.update('runtimeKey', old.id, { expiresAt: Date.now() }, { anchor: null });
    });
    await expect(asRuntime(first.secret)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('has expired'),
    });
    expect(await asRuntime(second.secret)).toMatchObject({ name: 'office' });
  });

  test('keys of one runtime do not accumulate', async () => {
    const { id, owner } = await newWorkspace();
    const issued = [];
    for (let i = 0; i < 15; i++) issued.push(await registerRuntime(backend, owner, { workspace: id, name: 'office' }));
    const where = [{ field: 'runtime' as const, equals: issued[0]?.runtime.id ?? '' }];
    expect(await backend.graph.count({ type: 'runtimeKey', anchor: null, where, limit: 1 })).toBe(10);
    expect(await asRuntime(issued[14]?.secret ?? newKey('runtime'))).toMatchObject({ name: 'office' });
  });

  test('a workspace has a limited number of runtimes, not counting revoked ones', async () => {
    const { id, owner } = await newWorkspace();
    const register = (name: string) => registerRuntime(backend, owner, { workspace: id, name });
    for (let i = 0; i < runtimesMax; i++) await register(`runtime-${i}`);
    const refused = {
      code: 'too_large',
      message: 'There may be at most 20 runtimes in a workspace.',
      hint: expect.stringContaining('svc runtime revoke'),
    };
    await expect(register('one-more')).rejects.toMatchObject(refused);
    const { runtime } = await register('runtime-3');
    await revokeRuntime(backend, owner, { workspace: id, id: runtime.id });
    await register('one-more');
    await expect(register('runtime-3')).rejects.toMatchObject(refused);
    await registerRuntime(backend, operator, { workspace: null, name: 'of-the-platform' });
  });

  test('registering raises the revision and is recorded', async () => {
    const { id, owner } = await newWorkspace();
    const { revision } = await getWorkspace(backend, id);
    const { runtime, secret } = await registerRuntime(backend, owner, { workspace: id, name: 'office' });
    expect((await getWorkspace(backend, id)).revision).toBe(revision + 1);
    const { nodes } = await backend.graph.select({ type: 'activity', anchor: id, descending: true, limit: 1 });
    expect(nodes[0]).toMatchObject({ action: 'create', subject: runtime.id, subjectName: 'office' });
    expect(JSON.stringify(nodes)).not.toContain(secret.reveal());
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['that was not issued', () => asRuntime(newKey('runtime')), /RUNTIME_KEY is not known/],
    ['that is a system key', () => asRuntime(keys.runtime), /it is a system key/],
    ['with a typo', () => asRuntime(new SecretValue(`${newKey('runtime').reveal()}x`)), /"malformed"/],
  ])('is refused %s', async (_name, connect, message) => {
    await expect(connect()).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(message),
    });
  });

  test('is not for editors or non-members', async () => {
    const { id } = await newWorkspace();
    const editor = await addMember(backend, id, 'editor');
    const stranger = (await newWorkspace()).owner;
    const request = { workspace: id, name: 'office' };
    await expect(registerRuntime(backend, editor, request)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(registerRuntime(backend, stranger, request)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('revoking a runtime', () => {
  test('ends its connections at once and refuses its keys', async () => {
    const { id, owner } = await newWorkspace();
    const { runtime, secret } = await registerRuntime(backend, owner, { workspace: id, name: 'office' });
    const bus = await backend.hub.connect({ kind: 'runtime', key: secret }, newProcessId());
    const lost = new Promise((resolve) => bus.onConnection(resolve));
    await revokeRuntime(backend, owner, { workspace: id, id: runtime.id });
    expect(await lost).toBe('disconnected');
    await expect(asRuntime(secret)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'The runtime "office" was revoked.',
    });
    await bus.close();
  });

  test('of the platform refuses its name to every system key', async () => {
    const key = newKey('system');
    await registerSystemKey(backend, operator, { component: 'runtime', key: key.reveal(), runtimeNames: ['spare'] });
    const identity = await asCloud(key, 'spare');
    if (identity.kind !== 'runtime') throw new Error(`a ${identity.kind} was let in`);
    await revokeRuntime(backend, operator, { workspace: null, id: identity.runtime });
    await expect(asCloud(key, 'spare')).rejects.toMatchObject({ message: 'The runtime "spare" was revoked.' });
  });

  test('is undone by registering it again, with the new key only', async () => {
    const { id, owner } = await newWorkspace();
    const request = { workspace: id, name: 'office' };
    const first = await registerRuntime(backend, owner, request);
    await revokeRuntime(backend, owner, { workspace: id, id: first.runtime.id });
    const second = await registerRuntime(backend, owner, request);
    expect(second.runtime.id).toBe(first.runtime.id);
    expect(second.overlapEndsAt).toBeNull();
    await expect(asRuntime(first.secret)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'This RUNTIME_KEY is not known to the platform.',
    });
    expect(await asRuntime(second.secret)).toMatchObject({ name: 'office' });
  });

  test('is refused across workspaces and to members without the right', async () => {
    const one = await newWorkspace();
    const other = await newWorkspace();
    const { runtime, secret } = await registerRuntime(backend, one.owner, { workspace: one.id, name: 'office' });
    const notThere = { code: 'not_found' };
    await expect(revokeRuntime(backend, other.owner, { workspace: other.id, id: runtime.id })).rejects.toMatchObject(
      notThere,
    );
    await expect(revokeRuntime(backend, other.owner, { workspace: one.id, id: runtime.id })).rejects.toMatchObject(
      notThere,
    );
    await expect(revokeRuntime(backend, operator, { workspace: null, id: runtime.id })).rejects.toMatchObject(notThere);
    await expect(revokeRuntime(backend, one.owner, { workspace: null, id: runtime.id })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await asRuntime(secret)).toMatchObject({ name: 'office' });
  });
});

test('no client is admitted as a backend', async () => {
  await expect(createAuthorizer(backend)({ kind: 'backend' }, process)).rejects.toMatchObject({ code: 'forbidden' });
});
