import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ContentEngine, contentContract, filled, using } from '../../content.contract.ts';
import { carryContent, type GraphContent, readContent } from '../../content.ts';
import { openAt } from '../../contract/graph-address.contract.ts';
import { roleNode } from '../../contract/sample-nodes.contract.ts';
import { schema } from '../../schema.ts';
import { openSqliteContent } from '../../sqlite/content.ts';
import { openDgraphContent } from '../content.ts';
import { Dql } from '../dql.ts';
import { emptyCluster, isEmptyCluster } from '../emptying.ts';
import { migrate, readTypes } from '../migrate.ts';
import { storedTypes } from '../storage.ts';
import { listIn } from '../stored-node.ts';
import { describeOnCluster } from './describe-on-cluster.ts';
import { clusterAt, TestCluster } from './test-cluster.ts';

describeOnCluster((cluster) => {
  const engine: ContentEngine = {
    name: 'Dgraph',
    empty: () => cluster().emptyGraph(),
    open: (address) => openDgraphContent({ ...TestCluster.optionsFor(address), readOnly: false }),
  };
  contentContract(engine);

  it('is equal in the other engine and after the copy back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-content-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [address, back] = [join(folder, 'there.sqlite'), join(folder, 'back.sqlite')];
    await filled({ url: `file:${address}` });
    const file = (path: string): ContentEngine => ({
      ...engine,
      open: async () => openSqliteContent({ file: path, readOnly: false }),
    });
    const there = await cluster().emptyGraph();
    await using(file(address), there, (source) => using(engine, there, (target) => carryContent(source, target)));
    await using(engine, there, (source) => using(file(back), there, (target) => carryContent(source, target)));
    const before = await using(file(address), there, readContent);
    expect(await using(engine, there, readContent)).toEqual(before);
    expect(await using(file(back), there, readContent)).toEqual(before);
  });

  it('filled content becomes a graph when it is finished, and from then on unique values and other writers are checked', async () => {
    const [from, to] = [await cluster().emptyGraph(), await cluster().emptyGraph()];
    const { workspace, role } = await filled(from);
    const cut: GraphContent = await engine.open(to);
    const source = await engine.open(from);
    await carryContent(source, { ...cut, finish: async () => undefined });
    await cut.close();
    using look = clusterAt(to);
    expect(await readTypes(look)).toEqual(new Map());
    await using(engine, to, (target) => target.finish());
    const names = storedTypes().map(({ name }) => name);
    expect(new Set((await readTypes(look)).keys())).toEqual(new Set(names));
    const graph = await openAt(to);
    const again = graph.write((transaction) => transaction.create('role', roleNode(workspace, { name: role.name })));
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    const raise = () =>
      graph.write(async (transaction) => {
        const { revision } = (await transaction.find('workspace', workspace, null)) ?? expect.fail();
        await transaction.update('workspace', workspace, { revision: revision + 1 }, { anchor: null });
      });
    const { revision: before } = (await graph.find('workspace', workspace, null)) ?? expect.fail();
    await Promise.all(Array.from({ length: 12 }, raise));
    expect(await graph.find('workspace', workspace, null)).toMatchObject({ revision: before + 12 });
    await Promise.all([graph.close(), source.close()]);
  }, 120_000);

  it('an emptied cluster is as before any content, and can be filled again', async () => {
    const address = await cluster().emptyGraph();
    const options = TestCluster.optionsFor(address);
    expect(await isEmptyCluster(options)).toBe(true);
    const { workspace } = await filled(address);
    expect(await isEmptyCluster(options)).toBe(false);
    await emptyCluster(options);
    await emptyCluster(options);
    expect(await isEmptyCluster(options)).toBe(true);
    using look = clusterAt(address);
    const asked = storedTypes().flatMap(({ predicates }) => [...predicates.keys()].map((name) => `has(${name})`));
    const { q } = await look.ask(new Dql(), [`q(func: has(dgraph.type)) @filter(${asked.join(' OR ')}) { uid }`], null);
    expect(listIn(q)).toEqual([]);
    const graph = await openAt(address);
    expect(await graph.find('workspace', workspace, null)).toBeNull();
    expect(await graph.count({ type: 'workspace', anchor: null, limit: 1 })).toBe(0);
    await graph.close();
  }, 240_000);

  it('content that a newer version added is not dropped silently', async () => {
    const address = await cluster().emptyGraph();
    using look = clusterAt(address);
    await migrate(
      look,
      storedTypes({ tomorrow: { owned: false, fields: {}, unique: [], index: [], search: [], edges: {} } }),
    );
    await expect(engine.open(address)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('has a "tomorrow.id", which this version does not know'),
    });
  });

  it('indexes of another version are not content', async () => {
    const address = await cluster().emptyGraph();
    const { workspace } = await filled(address);
    const before = await using(engine, address, readContent);
    using look = clusterAt(address);
    const other = { ...schema, role: { ...schema.role, index: [...schema.role.index, 'description'] } };
    await migrate(look, storedTypes(other));
    expect((await readTypes(look)).get('role')?.predicates.has('role.order.description')).toBe(true);
    expect(await using(engine, address, readContent)).toEqual(before);
    const graph = await openAt(address);
    expect(await graph.find('workspace', workspace, null)).toMatchObject({ id: workspace });
    await graph.close();
  });
});
