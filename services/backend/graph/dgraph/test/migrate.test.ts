import { expect, it } from 'vitest';
import { openAt } from '../../contract/graph-address.contract.ts';
import { roleNode, workspaceNode } from '../../contract/sample-nodes.contract.ts';
import { allPages, inTurn } from '../../contract/test-graph.contract.ts';
import { type NodeType, schema } from '../../schema.ts';
import { beginMoment, type Cluster } from '../cluster.ts';
import { Dql } from '../dql.ts';
import { migrate, readTypes } from '../migrate.ts';
import { allOf, quad } from '../quads.ts';
import { storedTypes } from '../storage.ts';
import { listIn } from '../stored-node.ts';
import { describeOnCluster } from './describe-on-cluster.ts';
import { clusterAt, type TestCluster } from './test-cluster.ts';

const note: NodeType = { owned: true, fields: { title: 'text' }, unique: [], index: [], search: [], edges: {} };

describeOnCluster((server) => {
  it('adds everything to an empty graph, as migration 1, and then nothing', async () => {
    using cluster = await newCluster(server());
    const types = storedTypes();
    expect(await migrate(cluster, types)).toEqual({ number: 1, added: types.map(({ name }) => name) });
    expect(await migrate(cluster, types)).toBeNull();
  });

  it('adds a type and a field to existing data, and an older version still works', async () => {
    using cluster = await newCluster(server());
    await migrate(cluster, storedTypes({ note }));
    const grown = storedTypes({ note: { ...note, fields: { title: 'text', colour: 'text?' } }, tag: note });
    expect(await migrate(cluster, grown)).toEqual({ number: 2, added: ['note', 'tag'] });
    expect(await migrate(cluster, storedTypes({ note }))).toBeNull();
    expect(await migrate(cluster, grown)).toBeNull();
    const { q } = await cluster.ask(new Dql(), ['q(func: has(svc.ledger.key)) { text: svc.ledger.text }'], null);
    expect(listIn(q).map(({ text }) => text)).toContainEqual(expect.stringContaining('note.colour'));
  });

  it('refuses a migration that would change existing data', async () => {
    using cluster = await newCluster(server());
    await migrate(cluster, storedTypes({ note }));
    const changed = migrate(cluster, storedTypes({ note: { ...note, fields: { title: 'integer' } } }));
    await expect(changed).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('"note.title"'),
    });
  });

  it('succeeds for two concurrent migrations, with the same result', async () => {
    const address = await server().emptyGraph();
    using one = clusterAt(address);
    using other = clusterAt(address);
    const types = storedTypes();
    const migrations = await Promise.all([migrate(one, types), migrate(other, types)]);
    expect(migrations.filter((migration) => migration !== null)).toHaveLength(1);
  });

  it('rebuilds indexes whose rules changed, for pages and orders', async () => {
    const address = await server().emptyGraph();
    const before = await openAt(address);
    const { id: workspace } = await before.write((transaction) => transaction.create('workspace', workspaceNode()));
    const names = Array.from({ length: 450 }, (_, i) => `role ${String(i).padStart(3, '0')}`);
    await before.write((transaction) =>
      inTurn(names, (name) => transaction.create('role', roleNode(workspace, { name }))),
    );
    await before.close();
    using cluster = clusterAt(address);
    const { q, l } = await cluster.ask(
      new Dql(),
      ['q(func: type(role)) { uid }', 'l(func: has(svc.ledger.key)) { uid key: svc.ledger.key }'],
      null,
    );
    const ledger = listIn(l).find(({ key }) => key === 'type role');
    const forgotten = ['role.index.marks', 'role.order.name', 'role.unique.name'];
    const remove = listIn(q).flatMap(({ uid }) => forgotten.map((predicate) => allOf(String(uid), predicate)));
    const known = JSON.stringify({
      predicates: [...(storedTypes().find(({ name }) => name === 'role')?.predicates ?? [])],
      index: 'other rules',
    });
    await cluster.commit(beginMoment(), [{ set: [quad(String(ledger?.uid), 'svc.ledger.text', known)], remove }]);

    const after = await openAt(address);
    const selection = { type: 'role', anchor: workspace, orderBy: 'name' } as const;
    expect((await allPages(after, { ...selection, limit: 100 })).map(({ name }) => name)).toEqual(names);
    expect(await after.count({ ...selection, search: '44', limit: 1 })).toBe(10);
    expect(await after.findBy('role', { name: 'role 449' }, workspace)).toMatchObject({ name: 'role 449' });
    await after.close();
  });

  it('removes unused indexes, and rebuilds them for a version that uses them', async () => {
    const address = await server().emptyGraph();
    const graph = await openAt(address);
    const { id: workspace } = await graph.write((transaction) => transaction.create('workspace', workspaceNode()));
    const role = await graph.write((transaction) => transaction.create('role', roleNode(workspace, { name: 'One' })));
    await graph.close();
    using cluster = clusterAt(address);
    const { role: now, ...others } = schema;
    const later: Record<string, NodeType> = { ...others, role: { ...now, unique: [], index: ['createdAt'] } };
    expect(await migrate(cluster, storedTypes(later))).toEqual({ number: 2, added: ['role'] });
    const left = async () => {
      const names = ['role.order.name', 'role.unique.name', 'role.order.createdAt'];
      const found = await cluster.ask(
        new Dql(),
        names.map((name, index) => `q${index}(func: has(${name})) { uid }`),
        null,
      );
      return names.filter((_, index) => listIn(found[`q${index}`]).length > 0);
    };
    expect(await left()).toEqual(['role.order.createdAt']);
    expect((await readTypes(cluster)).get('role')?.predicates.has('role.order.name')).toBe(false);

    const again = await openAt(address);
    expect(await again.findBy('role', { name: 'One' }, workspace)).toEqual(role);
    expect((await again.select({ type: 'role', anchor: workspace, orderBy: 'name', limit: 1 })).nodes).toEqual([role]);
    expect(await left()).toEqual(['role.order.name', 'role.unique.name', 'role.order.createdAt']);
    await again.close();
  });
});

async function newCluster(server: TestCluster): Promise<Cluster & Disposable> {
  return clusterAt(await server.emptyGraph());
}
