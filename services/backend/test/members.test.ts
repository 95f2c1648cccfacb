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

describe('members change members', () => {
  const roles = ['viewer', 'editor', 'admin', 'owner'] as const;
  const updateQuery = (input: string) =>
    `mutation ($w: ID!, $m: ID!) { updateMember(workspace: $w, id: $m, input: { ${input} }) { role } }`;
  const removeQuery = 'mutation ($w: ID!, $m: ID!, $k: ID) { removeMember(workspace: $w, id: $m, keysTo: $k) }';

  test('of their own role or a lower one, if they administer the workspace', async () => {
    const { id, add } = await open();
    const may = { viewer: [], editor: [], admin: ['viewer', 'editor', 'admin'], owner: roles };
    for (const who of roles) {
      const { token } = await backend.addMember(id, who);
      for (const of of roles) {
        const { addMember } = (await add(`${who}-${of}@example.com`, of)).data;
        const ask = (query: string) => backend.ask({ query, variables: { w: id, m: addMember.id }, token });
        const code = (may[who] as readonly string[]).includes(of) ? null : 'forbidden';
        expect([who, of, (await ask(updateQuery('suspended: true'))).code]).toEqual([who, of, code]);
        expect([who, of, (await ask(removeQuery)).code]).toEqual([who, of, code]);
      }
    }
  });

  test('but never to a role above their own', async () => {
    const { id, add } = await open();
    const { token } = await backend.addMember(id, 'admin');
    const { addMember } = (await add('ben@example.com')).data;
    const raise = (role: string) =>
      backend.ask({ query: updateQuery(`role: ${role}`), variables: { w: id, m: addMember.id }, token });
    expect((await raise('owner')).code).toBe('forbidden');
    expect((await raise('admin')).code).toBe(null);
  });

  test('and everybody may leave, but for the last owner', async () => {
    const { id, members } = await open();
    const { token, user } = await backend.addMember(id, 'viewer');
    const own = (await members()).find(({ person }: { person: { email: string } }) => person.email.startsWith(user));
    const other = (await members())[0];
    const leave = (m: string) => backend.ask({ query: removeQuery, variables: { w: id, m }, token });
    expect((await leave(other.id)).code).toBe('forbidden');
    expect((await leave(own.id)).code).toBe(null);
    expect((await leave(own.id)).code).toBe('not_found');
  });

  test('and a removed member’s keys go to another member, if asked, and their agents go on', async () => {
    const { id, members, owner } = await open();
    const { token } = await backend.addMember(id, 'viewer');
    const [, leaving] = await members();
    const query = 'mutation ($w: ID!) { createKey(workspace: $w, input: { name: "agent" }) { key { id } } }';
    expect((await backend.ask({ query, variables: { w: id }, token })).code).toBe(null);
    const remove = (k: string, by: string) =>
      backend.ask({ query: removeQuery, variables: { w: id, m: leaving.id, k }, token: by });
    const operator = await backend.operatorToken();
    // Nobody gives keys away by leaving.
    expect((await remove(owner, token)).code).toBe('forbidden');
    expect((await remove(leaving.id, operator)).code).toBe('conflict');
    expect((await remove('mem_0Vc8WaXS000I3H40Z4ydF8B5', operator)).code).toBe('not_found');
    expect((await remove(owner, operator)).code).toBe(null);
    const [left] = await members();
    expect(left).toMatchObject({ id: owner, keys: [{ name: 'agent', state: 'valid' }] });
  });

  test('but not to one who would have more than a hundred keys, and then nothing changes', async () => {
    const { id, members } = await open();
    const [heir, leaving] = [await backend.addMember(id, 'viewer'), await backend.addMember(id, 'viewer')];
    const query = 'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }';
    const addKey = async (n: string, token: string) =>
      expect((await backend.ask({ query, variables: { w: id, n }, token })).code).toBe(null);
    for (let at = 0; at < 99; at += 1) await addKey(`own ${at}`, heir.token);
    for (const name of ['one', 'two']) await addKey(name, leaving.token);
    const [, to, from] = await members();
    const remove = async () =>
      await backend.ask({
        query: removeQuery,
        variables: { w: id, m: from.id, k: to.id },
        token: await backend.operatorToken(),
      });
    const { code, errors } = await remove();
    expect(code).toBe('too_large');
    expect(errors[0]?.message).toContain('has 99 keys and cannot get 2 more: a member may have 100.');
    expect(await members()).toHaveLength(3);
    expect((await members())[2].keys).toMatchObject([{ state: 'valid' }, { state: 'valid' }]);
    await backend.must('mutation ($w: ID!) { revokeKey(workspace: $w, key: "own 0") { id } }', { w: id });
    expect((await remove()).code).toBe(null);
  });
});

describe('a removed member’s connected agents', () => {
  /** A connected agent is a key of a client. */
  async function withAgent() {
    const { id, members, owner } = await open();
    const { token } = await backend.addMember(id, 'viewer');
    const [, leaving] = await members();
    const query = `mutation ($w: ID!) {
      key: createKey(workspace: $w, input: { name: "key" }) { key { id } }
      agent: createKey(workspace: $w, input: { name: "agent" }) { key { id } }
    }`;
    const { agent } = (await backend.ask({ query, variables: { w: id }, token })).data;
    await backend.withGraph((graph) =>
      graph.write((transaction) =>
        transaction.update('key', agent.key.id, { client: 'client', activeName: null }, { anchor: id }),
      ),
    );
    return { id, members, owner, leaving };
  }

  test('are disconnected, while the keys go to another member', async () => {
    const { id, members, owner, leaving } = await withAgent();
    const query = 'mutation ($w: ID!, $m: ID!, $k: ID) { removeMember(workspace: $w, id: $m, keysTo: $k) }';
    await backend.must(query, { w: id, m: leaving.id, k: owner });
    expect((await members())[0].keys).toEqual([{ name: 'key', state: 'valid' }]);
    const all = '{ workspace(id: "W") { keys { nodes { name state } } } }'.replace('W', id);
    expect((await backend.must(all)).workspace.keys.nodes).toContainEqual({ name: 'agent', state: 'revoked' });
  });

  test('are handed over without a word of addresses to a viewer', async () => {
    const { id, owner, leaving } = await withAgent();
    const { token } = await backend.addMember(id, 'viewer');
    const remove = 'mutation ($w: ID!, $m: ID!, $k: ID) { removeMember(workspace: $w, id: $m, keysTo: $k) }';
    await backend.must(remove, { w: id, m: leaving.id, k: owner });
    const query = '{ workspace(id: "W") { activity { nodes { subjectKind changes } } } }'.replace('W', id);
    const changesFor = async (asking: string) => {
      const { nodes } = (await backend.ask({ query, token: asking })).data.workspace.activity;
      return nodes.map(({ changes }: { changes: string }) => changes).join('\n');
    };
    const email = leaving.person.email;
    expect(await changesFor(await backend.operatorToken())).toContain(email);
    const seen = await changesFor(token);
    expect(seen).toContain('{"owner":"changed"}');
    expect(seen).not.toContain(email);
    // Nor that of the owner who created the workspace.
    expect(seen).not.toContain('@');
  });
});

test('a member’s last sign-in is known, and a person knows the own memberships by id', async () => {
  const { id, members } = await open();
  const { token } = await backend.addMember(id, 'viewer');
  const [owner, own] = await members();
  const at = Date.now();
  await backend.withGraph(async (graph) => {
    const member = await graph.find('member', own.id, id);
    const user = member && (await graph.findBy('user', { email: own.person.email }, null));
    if (user)
      await graph.write((transaction) => transaction.update('user', user.id, { signedInAt: at }, { anchor: null }));
  });
  const list = '{ workspace(id: "W") { members { nodes { id lastSignedInAt } } } }'.replace('W', id);
  expect((await backend.must(list)).workspace.members.nodes).toEqual([
    { id: owner.id, lastSignedInAt: null },
    { id: own.id, lastSignedInAt: at },
  ]);
  const { data } = await backend.ask({ query: '{ viewer { memberships { id workspace { id } } } }', token });
  expect(data.viewer.memberships).toEqual([{ id: own.id, workspace: { id } }]);
});

test('members are found by words of name and address, in one workspace, by owners and admins only', async () => {
  const { id, add } = await open();
  const other = await open();
  for (const email of ['zoe.muller@example.com', 'zoltan@example.com']) {
    expect((await add(email)).code).toBe(null);
    expect((await other.add(`other.${email}`)).code).toBe(null);
  }
  const query = `query ($w: ID!, $s: String, $f: Int = 100, $a: String) { workspace(id: $w) {
    members(search: $s, first: $f, after: $a) { nodes { person { email } } pageInfo { next } } } }`;
  const page = async (s: string, f = 100, a: string | null = null) => {
    const { nodes, pageInfo } = (await backend.must(query, { w: id, s, f, a })).workspace.members;
    return { found: nodes.map(({ person }: { person: { email: string } }) => person.email), next: pageInfo.next };
  };
  const found = async (s: string) => {
    const whole = await page(s);
    expect(whole.next).toBe(null);
    return whole.found;
  };
  expect(await found('ZO')).toEqual(['zoe.muller@example.com', 'zoltan@example.com']);
  const first = await page('zo', 1);
  expect(first).toEqual({ found: ['zoe.muller@example.com'], next: expect.any(String) });
  expect(await page('zo', 1, first.next)).toEqual({ found: ['zoltan@example.com'], next: null });
  expect(await found('müller zoe')).toEqual(['zoe.muller@example.com']);
  expect(await found('oltan')).toEqual([]);
  const { token } = await backend.addMember(id, 'editor');
  const refused = await backend.ask({ query, variables: { w: id, s: 'zo' }, token });
  expect([refused.code, refused.data?.workspace ?? null]).toEqual(['forbidden', null]);
  const tooLong = await backend.ask({
    ...{ query, variables: { w: id, s: 'x'.repeat(257) }, token: await backend.operatorToken() },
  });
  expect(tooLong.code).toBe('invalid_input');
});

describe('a workspace of a person', () => {
  const create = 'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { name owner { id } } }';

  test('belongs to the person, whoever else is named', async () => {
    const { id } = await open();
    const { token, user } = await backend.addMember(id, 'viewer');
    const ask = (input: object) => backend.ask({ query: create, variables: { i: input }, token });
    expect((await ask({ name: 'Anns' })).data).toEqual({ createWorkspace: { name: 'Anns', owner: { id: user } } });
    expect((await ask({ name: 'Bens', ownerEmail: 'ben@example.com' })).code).toBe('forbidden');
    expect((await ask({ name: 'Anns' })).code).toBe('conflict');
  });

  test('is one of fifty at most', async () => {
    const { id } = await open();
    const { token } = await backend.addMember(id, 'viewer');
    const ask = (name: string) => backend.ask({ query: create, variables: { i: { name } }, token });
    for (let i = 0; i < 50; i++) expect((await ask(`Own${i}`)).code).toBe(null);
    expect((await ask('Own50')).code).toBe('too_large');
  });

  test('counts for whoever it is left to, so that nobody makes room by leaving', async () => {
    const { id, members, update } = await open();
    const { token } = await backend.addMember(id, 'owner');
    const accomplice = await backend.addMember(id, 'viewer');
    for (let i = 0; i < 50; i++) {
      const made = { query: create, variables: { i: { name: `Left${i}` } }, token: accomplice.token };
      expect((await backend.ask(made)).code).toBe(null);
    }
    const { id: member } = (await members()).at(-1);
    const promote =
      'mutation ($w: ID!, $m: ID!) { updateMember(workspace: $w, id: $m, input: { role: owner }) { id } }';
    const promoted = () => backend.ask({ query: promote, variables: { w: id, m: member }, token });
    expect((await promoted()).code).toBe('too_large');
    expect((await update(member, 'role: admin')).code).toBe(null);
    expect((await promoted()).code).toBe('too_large');
    // Operators decide otherwise.
    expect((await update(member, 'role: owner')).code).toBe(null);
  });

  test('says twenty times an hour that a name is taken, then for a while of no name whether it is', async () => {
    const { id } = await open();
    const { token } = await backend.addMember(id, 'owner');
    const rename = 'mutation ($w: ID!, $n: String!) { updateWorkspace(id: $w, input: { name: $n }) { name } }';
    const creating = (name: string) => backend.ask({ query: create, variables: { i: { name } }, token });
    const renaming = (name: string) => backend.ask({ query: rename, variables: { w: id, n: name }, token });
    await backend.must('mutation { createWorkspace(input: { name: "Guessed", ownerEmail: "g@example.com" }) { id } }');
    for (let i = 0; i < 10; i++) {
      expect([(await creating('Guessed')).code, (await renaming('Guessed')).code]).toEqual(['conflict', 'conflict']);
    }
    const refused = [await creating('Guessed'), await creating('Free name'), await renaming('Guessed')];
    expect(refused.map(({ code }) => code)).toEqual(Array(3).fill('rate_limited'));
    expect(refused[0]?.errors[0]?.message).toBe('Too many of the names were taken. Try again in 60 minutes.');
    const { token: other } = await backend.addMember(id, 'viewer');
    const free = { query: create, variables: { i: { name: 'Free name' } }, token: other };
    expect((await backend.ask(free)).code).toBe(null);
  });

  test('of an operator needs its owner', async () => {
    const token = await backend.operatorToken();
    expect((await backend.ask({ query: create, variables: { i: { name: 'X' } }, token })).code).toBe('invalid_input');
  });
});
