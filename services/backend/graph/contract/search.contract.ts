import { expect, it } from 'vitest';
import { roleNode, userNode } from './sample-nodes.contract.ts';
import { allPages, expectRefusal, type GraphEngine, inTurn, names, TestGraph } from './test-graph.contract.ts';

export function searchContract(engine: GraphEngine): void {
  it('finds nodes by the beginning of any word of any search field', async () => {
    await using test = await TestGraph.open(engine);
    await addRoles(test, { 'Release manager': 'Ships on Fridays', Reviewer: 'Reads what others write', Writer: '' });
    expect(await found(test, 'rel')).toEqual(['Release manager']);
    expect(await found(test, 'manager')).toEqual(['Release manager']);
    expect(await found(test, 're')).toEqual(['Release manager', 'Reviewer']);
    expect(await found(test, 'wr')).toEqual(['Reviewer', 'Writer']);
    expect(await found(test, 'fri')).toEqual(['Release manager']);
    // The middle of a word does not count.
    expect(await found(test, 'iter')).toEqual([]);
  });

  it('requires every word, in any order and in any field', async () => {
    await using test = await TestGraph.open(engine);
    await addRoles(test, { 'Release manager': 'Ships on Fridays', 'Release notes': 'Writes on Fridays' });
    expect(await found(test, 'friday release')).toEqual(['Release manager', 'Release notes']);
    expect(await found(test, 'release friday manager')).toEqual(['Release manager']);
    expect(await found(test, 'release monday')).toEqual([]);
    // A repeated word, and the beginning of another word, add no condition.
    expect(await found(test, 'rel release REL man')).toEqual(['Release manager']);
  });

  it('ignores case, accents and punctuation', async () => {
    await using test = await TestGraph.open(engine);
    await addRoles(test, { 'Crème-brûlée (süß)': '', create_issue: '', '東京 tower': '', ﬁnal: '' });
    for (const search of ['creme', 'CRÈME', 'brul', '"süß"', 'cre*']) {
      expect(await found(test, search)).toContain('Crème-brûlée (süß)');
    }
    expect(await found(test, 'issue')).toEqual(['create_issue']);
    expect(await found(test, 'create_iss')).toEqual(['create_issue']);
    expect(await found(test, '東')).toEqual(['東京 tower']);
    expect(await found(test, 'fin')).toEqual(['ﬁnal']);
  });

  it('gives no character a special meaning', async () => {
    await using test = await TestGraph.open(engine);
    await addRoles(test, { one: '', two: '' });
    for (const search of ['%', '_', '*', '"', "'", '\\', ')', 'one" OR "two', 'o%', "x' or 1=1 --"]) {
      const nodes = await found(test, search);
      // Only words are searched for, and punctuation is no word. A search without words finds every node.
      expect(nodes).toEqual(/[a-z]/.test(search) ? (search === 'o%' ? ['one'] : []) : ['one', 'two']);
    }
  });

  it('follows changes of the text', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme, { name: 'Old shared', description: 'first' }));
    await test.graph.write((transaction) =>
      transaction.update('role', role.id, { name: 'New shared', enabled: false }, { anchor: test.acme }),
    );
    expect(await found(test, 'old')).toEqual([]);
    expect(await found(test, 'new shared first')).toEqual(['New shared']);
    await test.graph.write((transaction) => transaction.remove('role', role.id, test.acme));
    expect(await found(test, 'shared')).toEqual([]);
  });

  it('combines with order, conditions, pages and counts', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([...Array(50).keys()], (i) =>
        transaction.create('role', roleNode(test.acme, { name: `${i % 2 ? 'odd' : 'even'} role ${i}`, createdAt: i })),
      ),
    );
    const selection = {
      type: 'role',
      anchor: test.acme,
      search: 'rol odd',
      where: [{ field: 'createdAt', from: 30 }],
      orderBy: 'createdAt',
      descending: true,
      limit: 3,
    } as const;
    const expected = [49, 47, 45, 43, 41, 39, 37, 35, 33, 31].map((i) => `odd role ${i}`);
    expect(names(await allPages(test.graph, selection))).toEqual(expected);
    expect(await test.graph.count(selection)).toBe(expected.length);
  });

  it('finds the same nodes for a word in few nodes and for one in very many', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([...Array(2500).keys()], (i) =>
        transaction.create('role', roleNode(test.acme, { name: `role ${i}`, description: i % 1000 ? '' : 'rare' })),
      ),
    );
    const search = async (text: string) =>
      names(
        (await test.graph.select({ type: 'role', anchor: test.acme, search: text, orderBy: 'name', limit: 5 })).nodes,
      );
    expect(await search('role')).toEqual(['role 0', 'role 1', 'role 10', 'role 100', 'role 1000']);
    expect(await search('rare')).toEqual(['role 0', 'role 1000', 'role 2000']);
    expect(await search('role rare')).toEqual(['role 0', 'role 1000', 'role 2000']);
    expect(await search('role rare 2')).toEqual(['role 2000']);
  });

  it('works for nodes without a workspace, and over all workspaces', async () => {
    await using test = await TestGraph.open(engine);
    await test.add('user', userNode({ email: 'ann@example.com', name: 'Ann Smith' }));
    await test.add('user', userNode({ email: 'bob@example.org', name: 'Bob Smith' }));
    const users = await test.graph.select({ type: 'user', anchor: null, search: 'smith example.com', limit: 10 });
    expect(names(users.nodes)).toEqual(['Ann Smith']);
    await test.add('role', roleNode(test.acme, { name: 'Ours' }));
    await test.add('role', roleNode(test.globex, { name: 'Ours too' }));
    const roles = await test.graph.select({ type: 'role', anchor: 'everywhere', search: 'ours', limit: 10 });
    expect(roles.nodes).toHaveLength(2);
  });

  it('refuses types without search fields, and searches that are too long', async () => {
    await using test = await TestGraph.open(engine);
    const { graph, acme } = test;
    await expectRefusal(
      graph.select({ type: 'member', anchor: acme, search: 'ann', limit: 1 }),
      'invalid_input',
      /search/,
    );
    const many = Array.from({ length: 17 }, (_, i) => `w${i}`).join(' ');
    await expectRefusal(graph.select({ type: 'role', anchor: acme, search: many, limit: 1 }), 'invalid_input', /17/);
  });

  it('handles very long texts', async () => {
    await using test = await TestGraph.open(engine);
    const word = 'x'.repeat(5000);
    await addRoles(test, { long: `${word} ${'lorem ipsum '.repeat(50_000)}` });
    expect(await found(test, word)).toEqual(['long']);
    expect(await found(test, 'lor ips')).toEqual(['long']);
  });
}

function addRoles(test: TestGraph, descriptions: Readonly<Record<string, string>>) {
  return test.graph.write((transaction) =>
    inTurn(Object.entries(descriptions), ([name, description]) =>
      transaction.create('role', roleNode(test.acme, { name, description })),
    ),
  );
}

async function found(test: TestGraph, search: string) {
  return names(
    (await test.graph.select({ type: 'role', anchor: test.acme, search, orderBy: 'name', limit: 100 })).nodes,
  );
}
