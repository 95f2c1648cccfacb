import { expect, it } from 'vitest';
import { Wire } from '../../../../../stack/test/chaos/wire.ts';
import { SvcError } from '../../../../contracts/errors.ts';
import { Secret } from '../../../../contracts/secret.ts';
import { openAt } from '../../contract/graph-address.contract.ts';
import { roleNode, settingNode, workspaceNode } from '../../contract/sample-nodes.contract.ts';
import { allPages, expectRefusal, inTurn } from '../../contract/test-graph.contract.ts';
import { openGraph } from '../../open-graph.ts';
import { openDgraphGraph } from '../dgraph-graph.ts';
import { describeOnCluster } from './describe-on-cluster.ts';
import { TestCluster } from './test-cluster.ts';

describeOnCluster((cluster) => {
  it.each(['alpha', 'zero'] as const)(
    'a killed %s costs no acknowledged write, and each request meanwhile is answered or refused by name',
    async (node) => {
      const graph = await openAt(await cluster().emptyGraph());
      const acknowledged: string[] = [];
      const unknown: string[] = [];
      let stopping = false;
      const write = async (line: number) => {
        for (let i = 0; !stopping; i++) {
          const name = `${line} ${i}`;
          await graph
            .write((transaction) => transaction.create('setting', settingNode(name)))
            .then(
              () => acknowledged.push(name),
              (thrown: unknown) => {
                expect(thrown).toBeInstanceOf(SvcError);
                expect(thrown).toMatchObject({ code: 'unavailable' });
                unknown.push(name);
              },
            );
        }
      };
      const writing = Promise.all([0, 1, 2, 3].map(write));
      for (let round = 0; round < 3; round++) {
        const before = acknowledged.length;
        await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(before + 20);
        await cluster().kill(node);
        await cluster().startAgain();
      }
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(before);
      stopping = true;
      await writing;
      const stored = (await allPages(graph, { type: 'setting', anchor: null, limit: 1000 })).map(({ name }) => name);
      expect(new Set(stored).size).toBe(stored.length);
      expect(acknowledged.filter((name) => !stored.includes(name))).toEqual([]);
      expect(stored.filter((name) => !acknowledged.includes(name) && !unknown.includes(name))).toEqual([]);
      await graph.close();
    },
    120_000,
  );

  it('requests during a restart of the only data node are carried out once it is ready', async () => {
    // The administrator may see everything, so the test uses another user: a node that has just started has not read
    // their rights.
    const user = await cluster().userIn(await cluster().emptyGraph());
    const graph = await openDgraphGraph({ ...TestCluster.optionsFor(user), requestMs: 30_000 });
    const { id } = await graph.write((transaction) => transaction.create('workspace', workspaceNode()));
    // Several restarts in quick succession: the next start finishes what the previous one only began.
    for (let round = 0; round < 4; round++) {
      await cluster().kill('alpha');
      let isBack = false;
      const ask = async () => {
        while (!isBack) expect(await graph.find('workspace', id, null)).toMatchObject({ id });
      };
      const write = async () => {
        for (let i = 0; !isBack; i++) {
          await graph.write((transaction) => transaction.create('setting', settingNode(`${round} ${i}`)));
        }
      };
      const starting = cluster()
        .startAgain()
        .finally(() => {
          isBack = true;
        });
      await Promise.all([starting, ask(), write()]);
    }
    await graph.close();
  }, 120_000);

  it('a forbidden read is refused, and never answered as not found', async () => {
    const user = await cluster().userIn(await cluster().emptyGraph());
    const graph = await openDgraphGraph({ ...TestCluster.optionsFor(user), requestMs: 1000 });
    const { id } = await graph.write((transaction) => transaction.create('workspace', workspaceNode()));
    const find = () => graph.find('workspace', id, null);
    await user.give('none');
    await expect.poll(() => find().then(() => null, String), { timeout: 10_000 }).toMatch(/shows our user nothing/);
    await expectRefusal(
      graph.write((transaction) => transaction.find('workspace', id, null)),
      'unavailable',
      /shows our user nothing/,
    );
    await expectRefusal(graph.ready(), 'unavailable', /shows our user nothing/);
    await user.give('all');
    await expect.poll(() => find().catch(String), { timeout: 10_000 }).toMatchObject({ id });
    await graph.close();
  }, 60_000);

  it("two backends open the same empty graph at the same time, and each sees the other's writes", async () => {
    const address = await cluster().emptyGraph();
    const [one, other] = await Promise.all([openAt(address), openAt(address)]);
    const workspace = await one.write((transaction) => transaction.create('workspace', workspaceNode()));
    expect(await other.find('workspace', workspace.id, null)).toEqual(workspace);
    // Both change the same node concurrently.
    const raise = (graph: typeof one) =>
      graph.write(async (transaction) => {
        const { revision } = (await transaction.find('workspace', workspace.id, null)) ?? expect.fail();
        await transaction.update('workspace', workspace.id, { revision: revision + 1 }, { anchor: null });
      });
    await Promise.all(Array.from({ length: 20 }, (_, i) => raise(i % 2 ? one : other)));
    expect(await one.find('workspace', workspace.id, null)).toMatchObject({ revision: 20, version: 21 });
    const create = (graph: typeof one) =>
      graph.write((transaction) => transaction.create('role', roleNode(workspace.id, { name: 'Admin' })));
    const outcomes = await Promise.allSettled([one, other, one, other].map(create));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all([one.close(), other.close()]);
  });

  it('a silent connection is dropped after one request', async () => {
    const address = await cluster().emptyGraph();
    const { port } = new URL(address.url);
    await using wire = await Wire.start(Number(port) + 1000);
    const options = TestCluster.optionsFor(address);
    const graph = await openDgraphGraph({ ...options, servers: [`127.0.0.1:${wire.port}`], requestMs: 1000 });
    const find = () => graph.findBy('setting', { name: 'a' }, null);
    expect(await find()).toBeNull();
    wire.silence();
    wire.reroute();
    await expectRefusal(find(), 'unavailable', /did not answer in time/);
    expect(await find()).toBeNull();
    await graph.close();
  });

  it('an unreachable cluster, a wrong password and a wrong user have different errors', async () => {
    const { url, user, password = '', namespace } = await cluster().emptyGraph();
    const away = openDgraphGraph({ servers: ['127.0.0.1:1'], tls: null, requestMs: 500 });
    await expectRefusal(away, 'unavailable', /"127\.0\.0\.1:1" cannot be reached/);
    for (const login of [
      { user, password: new Secret(`${password}x`) },
      { user: 'nobody', password: new Secret(password) },
    ]) {
      await expectRefusal(openGraph({ url, namespace, ...login }), 'unavailable', /user, or the password/);
    }
    await expectRefusal(openGraph({ url }), 'unavailable', /user, or the password/);
  });

  it('pages of a large workspace are complete in both directions, at any length', async () => {
    const graph = await openAt(await cluster().emptyGraph());
    const { id: workspace } = await graph.write((transaction) => transaction.create('workspace', workspaceNode()));
    const names = Array.from({ length: 3000 }, (_, i) => `role ${String((i * 7919) % 3000).padStart(4, '0')}`);
    for (let start = 0; start < names.length; start += 500) {
      await graph.write((transaction) =>
        inTurn(names.slice(start, start + 500), (name) =>
          transaction.create(
            'role',
            roleNode(workspace, { name, createdAt: name.length, description: name.slice(-1) }),
          ),
        ),
      );
    }
    const inOrder = names.toSorted();
    const selection = { type: 'role', anchor: workspace, orderBy: 'name' } as const;
    for (const limit of [1000, 250, 37]) {
      const up = await allPages(graph, { ...selection, limit });
      expect(up.map(({ name }) => name)).toEqual(inOrder);
      const down = await allPages(graph, { ...selection, limit, descending: true });
      expect(down.map(({ name }) => name)).toEqual(inOrder.toReversed());
    }
    const odd = await allPages(graph, { ...selection, search: '7', limit: 50 });
    expect(odd.map(({ name }) => name)).toEqual(inOrder.filter((name) => name.endsWith('7')));
    const same = await allPages(graph, {
      type: 'role',
      anchor: workspace,
      where: [{ field: 'createdAt', equals: 9 }],
      limit: 400,
    });
    expect(same.map(({ id }) => id)).toEqual(same.map(({ id }) => id).toSorted());
    expect(same).toHaveLength(3000);
    await graph.close();
  }, 120_000);
});
