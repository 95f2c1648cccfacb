import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let count = 0;
beforeAll(async () => {
  backend = await startTestBackend();
});
afterAll(() => backend.stop());

/** A new workspace with one owner. */
async function open() {
  const query = `mutation ($n: String!) { createWorkspace(input: { name: $n, ownerEmail: "first@example.com" }) { id } }`;
  const id: WorkspaceId = (await backend.must(query, { n: `W${++count}` })).createWorkspace.id;
  const members = async () => {
    const list = `query ($w: ID!) { workspace(id: $w) { members {
      nodes { id role suspended version person { email name } keys { name state } } } } }`;
    return (await backend.must(list, { w: id })).workspace.members.nodes;
  };
  const token = await backend.operatorToken();
  const add = (email: string, role = 'viewer') =>
    backend.ask({
      token,
      query: `mutation ($w: ID!, $e: String!) { addMember(workspace: $w, input: { email: $e, role: ${role} }) { id } }`,
      variables: { w: id, e: email },
    });
  const update = (member: string, input: string) =>
    backend.ask({
      token,
      query: `mutation ($w: ID!, $m: ID!) { updateMember(workspace: $w, id: $m, input: { ${input} }) { role } }`,
      variables: { w: id, m: member },
    });
  const remove = (member: string) =>
    backend.ask({
      token,
      query: 'mutation ($w: ID!, $m: ID!) { removeMember(workspace: $w, id: $m) }',
      variables: { w: id, m: member },
    });
  return { id, members, add, update, remove, owner: (await members())[0].id };
}

describe('a member', () => {
  test('is added once, with a checked address, and is recorded', async () => {
    const { id, members, add } = await open();
    expect((await add(' Ann@Example.com ', 'editor')).code).toBe(null);
    expect(await members()).toMatchObject([
      { role: 'owner', person: { email: 'first@example.com' } },
      { role: 'editor', suspended: false, version: 1, person: { email: 'ann@example.com', name: 'ann' }, keys: [] },
    ]);
    const again = await add('ann@example.com');
    expect([again.code, again.errors[0]?.message]).toEqual(['conflict', expect.stringContaining('is a member of')]);
    for (const email of ['', 'ann', 'a b@c', `${'a'.repeat(251)}@b.c`, 'a\u0000@b']) {
      expect([email, (await add(email)).code]).toEqual([email, 'invalid_input']);
    }
    expect((await add('other@example.com', 'king')).status).toBe(400);
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity(first: 1) { nodes { action subjectKind subjectName changes } } } }',
      { w: id },
    );
    expect(workspace.activity.nodes).toEqual([
      ...[
        {
          action: 'create',
          subjectKind: 'member',
          subjectName: 'ann@example.com',
          changes: '{"role":{"to":"editor"}}',
        },
      ],
    ]);
  });

  test('is changed, but not against a later change, and the last active owner stays one', async () => {
    const { members, add, update, remove, owner } = await open();
    for (const ask of [update(owner, 'role: admin'), update(owner, 'suspended: true'), remove(owner)]) {
      const { code, errors } = await ask;
      expect([code, errors[0]?.message]).toEqual(['conflict', expect.stringContaining('is the last owner of')]);
    }
    const { addMember } = (await add('ann@example.com')).data;
    expect((await update(addMember.id, 'role: owner, ifVersion: 1')).code).toBe(null);
    expect((await update(addMember.id, 'role: viewer, ifVersion: 1')).code).toBe('conflict');
    expect((await update(addMember.id, 'suspended: true')).code).toBe(null);
    // A suspended owner is not the one that stays.
    expect((await remove(owner)).code).toBe('conflict');
    expect((await update(addMember.id, 'suspended: false')).code).toBe(null);
    expect((await remove(owner)).code).toBe(null);
    expect((await members()).map(({ role }: { role: string }) => role)).toEqual(['owner']);
  });

  test('who is removed loses access, and the keys are revoked for good', async () => {
    const { id, members, remove } = await open();
    const { token } = await backend.addMember(id, 'admin');
    const createKey =
      'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }';
    const made = await backend.ask({ query: createKey, variables: { w: id, n: 'agent' }, token });
    expect(made.code).toBe(null);
    await backend.must(createKey, { w: id, n: 'of-the-owner' });
    const before = await members();
    expect(before.map(({ keys }: { keys: { name: string }[] }) => keys.map(({ name }) => name))).toEqual([
      ['of-the-owner'],
      ['agent'],
    ]);
    expect((await remove(before[1].id)).code).toBe(null);
    const read = { query: 'query ($w: ID!) { workspace(id: $w) { name } }', variables: { w: id }, token };
    expect((await backend.ask(read)).data).toEqual({ workspace: null });
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { keys { nodes { name state } } } }',
      {
        w: id,
      },
    );
    expect(workspace.keys.nodes).toEqual([
      { name: 'agent', state: 'revoked' },
      { name: 'of-the-owner', state: 'valid' },
    ]);
  });

  test('is listed to owners and admins alone', async () => {
    const { id } = await open();
    const query = 'query ($w: ID!) { workspace(id: $w) { members { nodes { person { email } } } } }';
    for (const [role, code] of [
      ['viewer', 'forbidden'],
      ['editor', 'forbidden'],
      ['admin', null],
      ['owner', null],
    ] as const) {
      const { token } = await backend.addMember(id, role);
      expect([role, (await backend.ask({ query, variables: { w: id }, token })).code]).toEqual([role, code]);
    }
  });

  test('who is suspended may do nothing until resumed', async () => {
    const { id, members, update } = await open();
    const { token } = await backend.addMember(id, 'admin');
    const [, member] = await members();
    const status = async () =>
      (await backend.ask({ query: 'query ($w: ID!) { workspace(id: $w) { name } }', variables: { w: id }, token }))
        .code;
    expect(await status()).toBe(null);
    await update(member.id, 'suspended: true');
    expect(await status()).toBe('forbidden');
    await update(member.id, 'suspended: false');
    expect(await status()).toBe(null);
  });
});
