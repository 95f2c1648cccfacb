import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { event, keyReply } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId, type RoleId, type WorkspaceId } from '../../contracts/ids.ts';
import { keyHint, newKey } from '../../contracts/keys.ts';
import { Secret } from '../../contracts/secret.ts';
import { type Bus, payloadMaxBytes } from '../../kit/bus/bus.ts';
import { endKey } from '../accounts/end-key.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { removeRole } from '../roles/change-roles.ts';
import { createAuthorizer } from '../runtimes/authorize.ts';
import { openSecrets } from '../secrets/secrets.ts';
import {
  addMember,
  addWorkspace,
  getWorkspace,
  openTestBackend,
  operator,
  type TestBackend,
} from '../test/open-test-backend.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { answerKeyChecks, checkKey } from './check-key.ts';
import { type CreateKeyInput, createKey } from './create-key.ts';
import { importKey } from './import-key.ts';
import { openLastUsed } from './last-used.ts';
import { revokeKey } from './revoke-key.ts';
import { rotateKey } from './rotate-key.ts';
import { storeKey } from './store-key.ts';
import { registerSystemKey } from './system-keys.ts';
import { type KeyPatch, updateKey } from './update-key.ts';

let backend: TestBackend;
let remoteMcp: Bus;
const year = 365 * 24 * 60 * 60 * 1000;

beforeAll(async () => {
  backend = await openTestBackend();
  backend.bus.authorize(createAuthorizer(backend));
  const key = newKey('system');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: key.reveal() });
  remoteMcp = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
});
afterAll(() => backend.close());

let count = 0;
async function newWorkspace() {
  const workspace = await addWorkspace(backend, `workspace-${count++}`);
  const create = (input: CreateKeyInput, principal: TokenPrincipal = workspace.owner) =>
    createKey(backend, { principal, workspace: workspace.id }, input);
  return { ...workspace, create };
}

async function addRole(workspace: WorkspaceId, name: string): Promise<RoleId> {
  const id = newId('role');
  const role = { id, workspace, name, description: '', enabled: true, toolLimit: null, createdAt: Date.now() };
  await backend.graph.write((transaction) => transaction.create('role', role));
  return id;
}

describe('creating a key', () => {
  test('returns its text once; the graph has only its digest and a ciphertext', async () => {
    const { id, create } = await newWorkspace();
    const { key, secret } = await create({ name: 'laptop' });
    expect(secret.reveal()).toMatch(/^SVA_[0-9A-Za-z]{49}$/);
    expect(key).toMatchObject({ name: 'laptop', workspace: id, hint: keyHint(secret.reveal()), allRoles: true });
    expect(JSON.stringify(key)).not.toContain(secret.reveal());
    expect(backend.secrets.decrypt(key.ciphertext, { node: key.id, field: 'ciphertext' }).reveal()).toBe(
      secret.reveal(),
    );
  });

  test('raises the revision and is recorded, without the key', async () => {
    const { id, create } = await newWorkspace();
    const before = await getWorkspace(backend, id);
    const { key, secret } = await create({ name: 'laptop' });
    expect((await getWorkspace(backend, id)).revision).toBe(before.revision + 1);
    const { nodes } = await backend.graph.select({ type: 'activity', anchor: id, descending: true, limit: 1 });
    expect(nodes[0]).toMatchObject({ action: 'create', subject: key.id, subjectName: 'laptop' });
    expect(JSON.stringify(nodes)).not.toContain(secret.reveal());
  });

  test('of an operator belongs to the owner of the workspace', async () => {
    const { owner, create } = await newWorkspace();
    const { secret } = await create({ name: 'laptop' }, operator);
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({ principal: { user: owner.user } });
  });

  const future = () => Date.now() + 60_000;
  test.each<[string, () => CreateKeyInput, string]>([
    ['a name of nothing', () => ({ name: ' ' }), 'invalid_input'],
    ['a name with a line break', () => ({ name: 'a\nb' }), 'invalid_input'],
    ['a name too long', () => ({ name: 'x'.repeat(65) }), 'invalid_input'],
    ['an expiry in the past', () => ({ name: 'k', expiresAt: Date.now() - 1 }), 'invalid_input'],
    ['an expiry now', () => ({ name: 'k', expiresAt: Date.now() }), 'invalid_input'],
    ['an expiry beyond ten years', () => ({ name: 'k', expiresAt: Date.now() + 10 * year + 60_000 }), 'invalid_input'],
    ['an invalid expiry', () => ({ name: 'k', expiresAt: Number.NaN }), 'invalid_input'],
    ['no role at all', () => ({ name: 'k', roles: [] }), 'invalid_input'],
    ['a role that is not an id', () => ({ name: 'k', roles: ['admin'] }), 'invalid_input'],
    ['a role that does not exist', () => ({ name: 'k', roles: [newId('role')], expiresAt: future() }), 'not_found'],
  ])('is refused for %s', async (_name, input, code) => {
    const { create } = await newWorkspace();
    await expect(create(input())).rejects.toMatchObject({ code });
  });

  test('is refused for a role of another workspace', async () => {
    const { create } = await newWorkspace();
    const other = await newWorkspace();
    const role = await addRole(other.id, 'support');
    await expect(create({ name: 'k', roles: [role] })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is refused for a name in use', async () => {
    const { create } = await newWorkspace();
    await create({ name: 'laptop' });
    await expect(create({ name: 'laptop' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('belongs to the member who makes it; for a non-member the workspace does not exist', async () => {
    const { id, create } = await newWorkspace();
    const viewer = await addMember(backend, id, 'viewer');
    const { key, secret: own } = await create({ name: 'own' }, viewer);
    expect(await checkKey(backend, own.reveal(), Date.now())).toMatchObject({ principal: { user: viewer.user } });
    expect((await updateKey(backend, { principal: viewer, workspace: id, id: key.id }, { name: 'mine' })).name).toBe(
      'mine',
    );
    const stranger = await newWorkspace();
    await expect(create({ name: 'k' }, stranger.owner)).rejects.toMatchObject({ code: 'not_found' });
    const admin = await addMember(backend, id, 'admin');
    const { secret } = await create({ name: 'k' }, admin);
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({ principal: { user: admin.user } });
  });
});

describe("another member's key", () => {
  test('is changed by admins only', async () => {
    const { id, create } = await newWorkspace();
    const { key } = await create({ name: 'k' }, await addMember(backend, id, 'viewer'));
    const changes = (principal: TokenPrincipal) => [
      () => updateKey(backend, { principal, workspace: id, id: key.id }, { name: 'taken' }),
      () => rotateKey(backend, { principal, workspace: id, id: key.id }),
      () => revokeKey(backend, { principal, workspace: id }, key.id),
      () => revokeKey(backend, { principal, workspace: id }, 'k'),
    ];
    for (const change of changes(await addMember(backend, id, 'editor'))) {
      await expect(change()).rejects.toMatchObject({ code: 'forbidden' });
    }
    const admin = await addMember(backend, id, 'admin');
    expect((await revokeKey(backend, { principal: admin, workspace: id }, 'k')).revokedAt).not.toBe(null);
  });
});

test('a member has a hundred keys at most, and revoked ones make room', async () => {
  const { id, create } = await newWorkspace();
  const viewer = await addMember(backend, id, 'viewer');
  for (let i = 0; i < 100; i++) await create({ name: `key-${i}` }, viewer);
  await expect(create({ name: 'more' }, viewer)).rejects.toMatchObject({ code: 'too_large' });
  await create({ name: 'more' }, await addMember(backend, id, 'viewer'));
  await revokeKey(backend, { principal: viewer, workspace: id }, 'key-1');
  await create({ name: 'again' }, viewer);
});

test.each<[string, (transaction: Transaction, key: Node<'key'>) => Promise<unknown>]>([
  ['a member has revoked before', endKey],
  [
    'an older installation has revoked, which left them to the member',
    (transaction, { id, workspace }) =>
      transaction.update('key', id, { revokedAt: 1, activeName: null }, { anchor: workspace }),
  ],
])('the hundred hold however many keys %s', async (_which, end) => {
  const { id, create } = await newWorkspace();
  const viewer = await addMember(backend, id, 'viewer');
  // As many as one read of a member's keys.
  await backend.graph.write(async (transaction) => {
    for (let i = 0; i < pageMax; i++) {
      const stored = { workspace: id, name: `old-${i}`, secret: newKey('user'), user: viewer.user, roles: null };
      const rest = { disclosure: 'all', expiresAt: null, replaces: null } as const;
      await end(transaction, await storeKey(transaction, backend, { ...stored, ...rest }));
    }
  });
  for (let i = 0; i < 100; i++) await create({ name: `key-${i}` }, viewer);
  await expect(create({ name: 'more' }, viewer)).rejects.toMatchObject({ code: 'too_large' });
});

test('who had a revoked key may revoke it again, and nobody else of that role', async () => {
  const { id, create } = await newWorkspace();
  const [viewer, other] = [await addMember(backend, id, 'viewer'), await addMember(backend, id, 'viewer')];
  const { key } = await create({ name: 'k' }, viewer);
  await revokeKey(backend, { principal: viewer, workspace: id }, key.id);
  await revokeKey(backend, { principal: viewer, workspace: id }, key.id);
  await expect(revokeKey(backend, { principal: other, workspace: id }, key.id)).rejects.toMatchObject({
    code: 'forbidden',
  });
});

describe('checking a key', () => {
  test('of a removed role finds no role, never all of them', async () => {
    const { id, owner, create } = await newWorkspace();
    const role = await addRole(id, 'support');
    await addRole(id, 'other');
    const { secret } = await create({ name: 'limited', roles: [role] });
    await removeRole(backend, owner, id, { id: role });
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({ ok: true, principal: { roles: [] } });
  });

  test('returns its owner', async () => {
    const { id, owner, create } = await newWorkspace();
    const role = await addRole(id, 'support');
    const expiresAt = Date.now() + 60_000;
    const { key, secret } = await create({ name: 'laptop', roles: [role], expiresAt });
    expect(await checkKey(backend, secret.reveal(), Date.now())).toEqual({
      ok: true,
      principal: {
        key: key.id,
        keyName: 'laptop',
        user: owner.user,
        workspace: id,
        workspaceName: (await getWorkspace(backend, id)).name,
        suspended: false,
        roles: [role],
        disclosure: 'skills',
        expiresAt,
      },
    });
  });

  test('a key without explicit roles has every role', async () => {
    const { create } = await newWorkspace();
    const { secret } = await create({ name: 'laptop' });
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({ principal: { roles: null } });
  });

  test('a key is valid until the moment it expires', async () => {
    const { create } = await newWorkspace();
    const expiresAt = Date.now() + 60_000;
    const { secret } = await create({ name: 'laptop', expiresAt });
    expect(await checkKey(backend, secret.reveal(), expiresAt - 1)).toMatchObject({ ok: true });
    expect(await checkKey(backend, secret.reveal(), expiresAt)).toEqual({
      ok: false,
      refusal: 'expired',
      at: expiresAt,
    });
  });

  test('a suspended workspace or member is reported, not refused: the caller decides', async () => {
    const { id, create } = await newWorkspace();
    const { secret } = await create({ name: 'laptop' });
    await backend.graph.write((transaction) =>
      transaction.update('workspace', id, { suspended: true }, { anchor: null }),
    );
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({
      ok: true,
      principal: { suspended: true },
    });
  });

  test('a key whose user has left the workspace is unknown', async () => {
    const { id, create } = await newWorkspace();
    const admin = await addMember(backend, id, 'admin');
    const { secret } = await create({ name: 'laptop' }, admin);
    await backend.graph.write(async (transaction) => {
      const member = await transaction.findBy('member', { user: admin.user }, id);
      if (member !== null) await transaction.remove('member', member.id, id);
    });
    expect(await checkKey(backend, secret.reveal(), Date.now())).toMatchObject({ ok: false, refusal: 'revoked' });
  });

  test('keys of older installations are accepted', async () => {
    const { id, owner } = await newWorkspace();
    const text = 'USK-of-an-older-installation';
    const key = newId('key');
    await backend.graph.write(async (transaction) => {
      await transaction.create('key', {
        ...{ id: key, workspace: id, name: 'old', activeName: 'old', hint: 'USK…tion', allRoles: true },
        digest: backend.secrets.digest(new Secret(text)),
        ciphertext: backend.secrets.encrypt(new Secret(text), { node: key, field: 'ciphertext' }),
        ...{ disclosure: null, replaces: null, client: null, grant: null, expiresAt: null, revokedAt: null },
        ...{ firstUsedAt: null, lastUsedAt: null, createdAt: Date.now() },
      });
      await transaction.link({ from: 'key', edge: 'user' }, key, [owner.user]);
    });
    expect(await checkKey(backend, text, Date.now())).toMatchObject({ ok: true, principal: { key } });
    expect(await checkKey(backend, `${text}x`, Date.now())).toMatchObject({ ok: false, refusal: 'unknown' });
  });

  test('a key stored under the previous encryption key is found while that one is given', async () => {
    const { create } = await newWorkspace();
    const { key, secret } = await create({ name: 'laptop' });
    const present = new Secret('ab'.repeat(32));
    const rotated = openSecrets({ present, previous: backend.config.ENCRYPTION_KEY });
    expect(await checkKey({ ...backend, secrets: rotated }, secret.reveal(), Date.now())).toMatchObject({
      principal: { key: key.id },
    });
    const without = openSecrets({ present, previous: undefined });
    expect(await checkKey({ ...backend, secrets: without }, secret.reveal(), Date.now())).toMatchObject({
      refusal: 'unknown',
    });
  });

  test.each([
    ['', 'nothing'],
    [newKey('user').reveal(), 'an unknown key'],
    [newKey('system').reveal(), 'a system key'],
    [newKey('runtime').reveal(), 'a runtime key'],
    ['WSK_retired', 'a retired key'],
    ['XYZ_unknown', 'an unknown prefix'],
    ['USK', 'a prefix alone'],
  ])('"%s" is unknown: %s', async (text) => {
    expect(await checkKey(backend, text, Date.now())).toEqual({ ok: false, refusal: 'unknown', at: null });
  });
});

describe('revoking a key', () => {
  test('ends it, frees its name and is recorded once', async () => {
    const { id, owner, create } = await newWorkspace();
    const { key, secret } = await create({ name: 'laptop' });
    const revoked = await revokeKey(backend, { principal: owner, workspace: id }, 'laptop');
    expect(await checkKey(backend, secret.reveal(), Date.now())).toEqual({
      ok: false,
      refusal: 'revoked',
      at: revoked.revokedAt,
    });
    const { revision } = await getWorkspace(backend, id);
    await revokeKey(backend, { principal: owner, workspace: id }, key.id);
    expect((await getWorkspace(backend, id)).revision).toBe(revision);
    expect((await create({ name: 'laptop' })).key.id).not.toBe(key.id);
  });

  test('is announced to the caches of its principal', async () => {
    const { id, owner, create } = await newWorkspace();
    const { key } = await create({ name: 'laptop' });
    const heard = Promise.withResolvers<Uint8Array>();
    const listening = remoteMcp.subscribe(patterns.events, (message) => {
      if (message.subject === subjects.event(id, 'key')) heard.resolve(message.payload);
    });
    await revokeKey(backend, { principal: owner, workspace: id }, key.id);
    expect(parseBody(event, await heard.promise, payloadMaxBytes)).toMatchObject({ key: key.id });
    await listening.stop();
  });

  test('is refused for a key of another workspace, and to members without the right', async () => {
    const { id, owner, create } = await newWorkspace();
    const other = await newWorkspace();
    const { key } = await create({ name: 'laptop' });
    const elsewhere = { principal: other.owner, workspace: other.id };
    await expect(revokeKey(backend, elsewhere, key.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(revokeKey(backend, elsewhere, 'laptop')).rejects.toMatchObject({ code: 'not_found' });
    await expect(revokeKey(backend, { principal: owner, workspace: id }, 'desktop')).rejects.toMatchObject({
      code: 'not_found',
    });
    const viewer = await addMember(backend, id, 'viewer');
    await expect(revokeKey(backend, { principal: viewer, workspace: id }, key.id)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('changing a key', () => {
  async function created(input: Partial<CreateKeyInput> = {}) {
    const workspace = await newWorkspace();
    const role = await addRole(workspace.id, 'support');
    const { key, secret } = await workspace.create({ name: 'laptop', roles: [role], ...input });
    const request = { principal: workspace.owner, workspace: workspace.id, id: key.id };
    const principal = async () => checkKey(backend, secret.reveal(), Date.now());
    return { ...workspace, role, key, request, principal };
  }

  test('reaches its principal and is recorded and announced', async () => {
    const { id, key, request, principal } = await created();
    const other = await addRole(id, 'sales');
    const heard = Promise.withResolvers<Uint8Array>();
    const listening = remoteMcp.subscribe(patterns.events, (message) => {
      if (message.subject === subjects.event(id, 'key')) heard.resolve(message.payload);
    });
    const expiresAt = Date.now() + 60_000;
    await updateKey(backend, request, { name: 'desktop', roles: [other], disclosure: 'all', expiresAt });
    expect(await principal()).toMatchObject({
      principal: { keyName: 'desktop', roles: [other], disclosure: 'all', expiresAt },
    });
    expect(parseBody(event, await heard.promise, payloadMaxBytes)).toMatchObject({ key: key.id });
    await listening.stop();
    const { nodes } = await backend.graph.select({ type: 'activity', anchor: id, descending: true, limit: 1 });
    expect(nodes[0]).toMatchObject({ action: 'update', subject: key.id, subjectName: 'desktop' });
    expect(JSON.parse(nodes[0]?.changes ?? '')).toMatchObject({
      disclosure: { from: 'skills', to: 'all' },
      roles: { from: ['support'], to: ['sales'] },
    });
    await updateKey(backend, request, { allRoles: true, neverExpires: true });
    expect(await principal()).toMatchObject({ principal: { roles: null, disclosure: 'all', expiresAt: null } });
  });

  test('to the same values changes and records nothing', async () => {
    const { id, role, key, request } = await created();
    const { revision } = await getWorkspace(backend, id);
    const patch = { name: 'laptop', roles: [role], disclosure: 'skills', ifVersion: key.version } as const;
    expect((await updateKey(backend, request, patch)).version).toBe(key.version);
    expect((await getWorkspace(backend, id)).revision).toBe(revision);
  });

  test('gives an expired key a later expiry', async () => {
    const { id, key, request, principal } = await created({ expiresAt: Date.now() + 60_000 });
    await backend.graph.write((transaction) => transaction.update('key', key.id, { expiresAt: 1 }, { anchor: id }));
    expect(await principal()).toMatchObject({ ok: false, refusal: 'expired' });
    await updateKey(backend, request, { expiresAt: Date.now() + 60_000 });
    expect(await principal()).toMatchObject({ ok: true });
  });

  test.each<[string, KeyPatch, string]>([
    ['another version', { name: 'x', ifVersion: 77 }, 'conflict'],
    ['no role at all', { roles: [] }, 'invalid_input'],
    ['an unknown role', { roles: [newId('role')] }, 'not_found'],
    ['roles and all roles', { roles: [newId('role')], allRoles: true }, 'invalid_input'],
    ['an expiry and none', { expiresAt: Date.now() + 60_000, neverExpires: true }, 'invalid_input'],
    ['an expiry in the past', { expiresAt: 1 }, 'invalid_input'],
    ['a name with a line break', { name: 'a\nb' }, 'invalid_input'],
    ['a name in use', { name: 'taken' }, 'conflict'],
  ])('is refused for %s', async (_what, patch, code) => {
    const { create, request, principal } = await created();
    await create({ name: 'taken' });
    const before = await principal();
    await expect(updateKey(backend, request, patch)).rejects.toMatchObject({ code });
    expect(await principal()).toEqual(before);
  });

  test('is refused for a revoked key, and for a role of another workspace', async () => {
    const { request } = await created();
    const elsewhere = await addRole((await newWorkspace()).id, 'support');
    await expect(updateKey(backend, request, { roles: [elsewhere] })).rejects.toMatchObject({ code: 'not_found' });
    await revokeKey(backend, request, request.id);
    await expect(updateKey(backend, request, { disclosure: 'all' })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('rotating a key', () => {
  test('makes one of the same name, roles, disclosure and lifetime, and both are valid', async () => {
    const { id, owner, create } = await newWorkspace();
    const role = await addRole(id, 'support');
    const expiresAt = Date.now() + 60_000;
    const old = await create({ name: 'laptop', roles: [role], disclosure: 'all', expiresAt });
    const before = Date.now();
    const { key, secret } = await rotateKey(backend, { principal: owner, workspace: id, id: old.key.id });
    expect(key).toMatchObject({ name: 'laptop', activeName: 'laptop', replaces: old.key.id });
    const lifetime = expiresAt - old.key.createdAt;
    expect(key.expiresAt).toBeGreaterThanOrEqual(before + lifetime);
    expect(await checkKey(backend, secret.reveal(), before)).toMatchObject({
      principal: { key: key.id, roles: [role], disclosure: 'all', keyName: 'laptop' },
    });
    expect(await checkKey(backend, old.secret.reveal(), before)).toMatchObject({ principal: { key: old.key.id } });
    const { nodes } = await backend.graph.select({ type: 'activity', anchor: id, descending: true, limit: 1 });
    expect(JSON.parse(nodes[0]?.changes ?? '')).toMatchObject({ replaces: { to: old.key.id } });
    expect(JSON.stringify(nodes)).not.toContain(secret.reveal());
  });

  test('is refused while an earlier rotation is unfinished, and for a revoked key', async () => {
    const { id, owner, create } = await newWorkspace();
    const request = { principal: owner, workspace: id };
    const old = await create({ name: 'laptop' });
    const { key } = await rotateKey(backend, { ...request, id: old.key.id });
    for (const one of [old.key, key]) {
      await expect(rotateKey(backend, { ...request, id: one.id })).rejects.toMatchObject({ code: 'conflict' });
    }
    await revokeKey(backend, request, old.key.id);
    await expect(rotateKey(backend, { ...request, id: old.key.id })).rejects.toMatchObject({ code: 'conflict' });
    expect((await rotateKey(backend, { ...request, id: key.id })).key.replaces).toBe(key.id);
  });

  test('never widens a key whose roles were removed', async () => {
    const { id, owner, create } = await newWorkspace();
    const role = await addRole(id, 'support');
    const { key } = await create({ name: 'laptop', roles: [role] });
    await backend.graph.write((transaction) => transaction.remove('role', role, id));
    const rotated = rotateKey(backend, { principal: owner, workspace: id, id: key.id });
    await expect(rotated).rejects.toMatchObject({ code: 'conflict' });
  });

  test('keeps the user for an operator; a user gets a key of their own', async () => {
    const { id, owner, create } = await newWorkspace();
    const admin = await addMember(backend, id, 'admin');
    const userOf = async (principal: TokenPrincipal, name: string) => {
      const { key } = await create({ name }, admin);
      const { secret } = await rotateKey(backend, { principal, workspace: id, id: key.id });
      return await checkKey(backend, secret.reveal(), Date.now());
    };
    expect(await userOf(operator, 'a')).toMatchObject({ principal: { user: admin.user } });
    expect(await userOf(owner, 'b')).toMatchObject({ principal: { user: owner.user } });
  });
});

describe('importing an older key', () => {
  const text = () => `USK-${newId('key')}-older`;

  test('makes it valid in that workspace, without a readable copy', async () => {
    const { id } = await newWorkspace();
    const role = await addRole(id, 'support');
    const older = text();
    const input = { name: 'old', roles: [role], disclosure: 'all' } as const;
    const key = await importKey(backend, { principal: operator, workspace: id }, { input, text: older });
    expect(await checkKey(backend, older, Date.now())).toMatchObject({
      ok: true,
      principal: { key: key.id, workspace: id, roles: [role], disclosure: 'all' },
    });
    expect(JSON.stringify(key)).not.toContain(older);
    const { nodes } = await backend.graph.select({ type: 'activity', anchor: id, descending: true, limit: 1 });
    expect(JSON.stringify(nodes)).not.toContain(older);
  });

  test('is refused if any workspace has it, also revoked, and the refusal says no more', async () => {
    const [here, there] = [await newWorkspace(), await newWorkspace()];
    const older = text();
    const request = { principal: operator, workspace: there.id };
    const { id } = await importKey(backend, request, { input: { name: 'old' }, text: older });
    await revokeKey(backend, request, id);
    const again = importKey(backend, { ...request, workspace: here.id }, { input: { name: 'mine' }, text: older });
    await expect(again).rejects.toMatchObject({ code: 'conflict', message: expect.not.stringContaining('old"') });
  });

  test('is for operators, even if the member owns the workspace', async () => {
    const { id, owner } = await newWorkspace();
    const imported = importKey(backend, { principal: owner, workspace: id }, { input: { name: 'x' }, text: text() });
    await expect(imported).rejects.toMatchObject({ code: 'forbidden' });
  });

  test.each([
    ['', 'nothing'],
    ['USK-short', 'a short key'],
    ['USK-0123456789 0123456789', 'a key with a space'],
    [`USK${'x'.repeat(600)}`, 'a long text'],
    ['WSK_0123456789012345678901234567890', 'a retired key'],
    [newKey('user').reveal(), 'a key of another platform'],
    [newKey('runtime').reveal(), 'a runtime key'],
    [newKey('system').reveal(), 'a system key'],
  ])('%s is refused: %s', async (given) => {
    const { id } = await newWorkspace();
    const request = { principal: operator, workspace: id };
    const imported = importKey(backend, request, { input: { name: 'x' }, text: given });
    await expect(imported).rejects.toMatchObject({ code: 'invalid_input' });
    if (given !== '') await expect(imported).rejects.toMatchObject({ message: expect.not.stringContaining(given) });
  });
});

describe('on the bus', () => {
  async function ask(body: Uint8Array) {
    const { payload } = await remoteMcp.request(subjects.key(remoteMcp.identity.process), body, { timeoutMs: 5000 });
    return parseBody(keyReply, payload, payloadMaxBytes);
  }

  test('remote-mcp is answered, and the use is written', async () => {
    const { id, create } = await newWorkspace();
    const { key, secret } = await create({ name: 'laptop' });
    const lastUsed = openLastUsed(backend, 60_000);
    const answering = answerKeyChecks(backend, lastUsed);
    const before = Date.now();
    expect(await ask(toBody({ key: secret.reveal() }))).toMatchObject({ ok: true, principal: { key: key.id } });
    expect(await ask(toBody({ key: newKey('user').reveal() }))).toMatchObject({ ok: false, refusal: 'unknown' });
    await expect(ask(toBody({ name: secret.reveal() }))).rejects.toMatchObject({ code: 'invalid_input' });
    await answering.stop();
    await lastUsed.stop();
    expect((await backend.graph.find('key', key.id, id))?.lastUsedAt).toBeGreaterThanOrEqual(before);
    expect(backend.logged.join('')).not.toContain(secret.reveal());
  });
});

describe('last use', () => {
  async function useOf(throttleMs: number) {
    const { id, create } = await newWorkspace();
    const { key } = await create({ name: 'laptop' });
    const lastUsed = openLastUsed(backend, throttleMs);
    const use = async (at: number) => {
      lastUsed.note({ key: key.id, workspace: id, at });
      await lastUsed.stop();
      return (await backend.graph.find('key', key.id, id))?.lastUsedAt;
    };
    return { id, key, use };
  }

  test('does not make a change by a person outdated', async () => {
    const { id, key, use } = await useOf(0);
    expect(await use(1000)).toBe(1000);
    const request = { principal: operator, workspace: id, id: key.id };
    expect(await updateKey(backend, request, { disclosure: 'all', ifVersion: key.version })).toMatchObject({
      ...{ disclosure: 'all', lastUsedAt: 1000 },
    });
  });

  test('is rewritten at most once in a period', async () => {
    const { use } = await useOf(60_000);
    expect(await use(1_000_000)).toBe(1_000_000);
    expect(await use(1_059_999)).toBe(1_000_000);
    expect(await use(1_060_000)).toBe(1_060_000);
  });

  test('leaves the first use as it is', async () => {
    const { id, key, use } = await useOf(0);
    await use(1_000_000);
    await use(2_000_000);
    expect(await backend.graph.find('key', key.id, id)).toMatchObject({
      firstUsedAt: 1_000_000,
      lastUsedAt: 2_000_000,
    });
  });

  test('is rewritten by every use when the period is 0, and never set back', async () => {
    const { use } = await useOf(0);
    expect(await use(1_000_000)).toBe(1_000_000);
    expect(await use(1_000_001)).toBe(1_000_001);
    expect(await use(999_999)).toBe(1_000_001);
  });

  test('several backends share the period', async () => {
    const { id, key, use } = await useOf(60_000);
    expect(await use(1_000_000)).toBe(1_000_000);
    const other = openLastUsed(backend, 60_000);
    other.note({ key: key.id, workspace: id, at: 1_030_000 });
    await other.stop();
    expect((await backend.graph.find('key', key.id, id))?.lastUsedAt).toBe(1_000_000);
  });

  test('of a missing key is skipped', async () => {
    const { id } = await newWorkspace();
    const lastUsed = openLastUsed(backend, 60_000);
    lastUsed.note({ key: newId('key'), workspace: id, at: 1 });
    await lastUsed.stop();
    expect(backend.logged.filter((line) => line.includes('failed to write last uses'))).toEqual([]);
  });
});
