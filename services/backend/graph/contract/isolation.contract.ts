import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { keyNode, roleNode, skillNode, toolNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, ids, TestGraph, wrong } from './test-graph.contract.ts';

/** Acme requests every object of Globex, by names and ids that it could guess. */
export function isolationContract(engine: GraphEngine): void {
  it('holds for a node by its id', async () => {
    await using test = await TestGraph.open(engine);
    const { theirs } = await twins(test);
    expect(await test.graph.find('role', theirs.role.id, test.acme)).toBeNull();
    expect(await test.graph.find('role', theirs.role.id, test.globex)).toEqual(theirs.role);
    expect(await test.graph.find('role', theirs.role.id, 'everywhere')).toEqual(theirs.role);
    await test.graph.write(async (transaction) => {
      expect(await transaction.find('role', theirs.role.id, test.acme)).toBeNull();
    });
  });

  it('holds for a node by its unique fields', async () => {
    await using test = await TestGraph.open(engine);
    const { ours, theirs } = await twins(test);
    expect(await test.graph.findBy('role', { name: 'Admin' }, test.acme)).toEqual(ours.role);
    await test.add('role', roleNode(test.globex, { name: 'Theirs alone' }));
    expect(await test.graph.findBy('role', { name: 'Theirs alone' }, test.acme)).toBeNull();
    const values = { mcpServer: 'srv_1', originalName: 'echo' };
    expect(await test.graph.findBy('tool', values, test.acme)).toEqual(ours.tool);
    expect(await test.graph.findBy('key', { digest: 'digest of globex' }, test.acme)).toBeNull();
    expect(await test.graph.findBy('key', { digest: 'digest of globex' }, test.globex)).toEqual(theirs.key);
  });

  it('holds for pages, conditions, searches and counts', async () => {
    await using test = await TestGraph.open(engine);
    const { ours, theirs } = await twins(test);
    const selections = [
      {},
      { where: [{ field: 'name', equals: 'Admin' }] },
      { where: [{ field: 'name', in: ['Admin', 'Viewer'] }] },
      { where: [{ field: 'name', prefix: '' }] },
      { where: [{ field: 'createdAt', from: 0 }] },
      { search: 'adm' },
      { search: 'adm everything' },
      { orderBy: 'name' },
      { orderBy: 'createdAt', descending: true },
    ] as const;
    for (const some of selections) {
      const of = (anchor: typeof test.acme | 'everywhere') => ({ type: 'role', limit: 10, anchor, ...some }) as const;
      expect((await test.graph.select(of(test.acme))).nodes).toEqual([ours.role]);
      expect((await test.graph.select(of(test.globex))).nodes).toEqual([theirs.role]);
      expect(await test.graph.count(of(test.acme))).toBe(1);
      if ('orderBy' in some) {
        // Within a workspace, any index orders nodes; over all workspaces only the id does.
        await expectRefusal(test.graph.select(of('everywhere')), 'invalid_input', new RegExp(`"${some.orderBy}"`));
      } else {
        expect(await test.graph.count(of('everywhere'))).toBe(2);
        expect((await test.graph.select(of('everywhere'))).nodes).toEqual([ours.role, theirs.role]);
      }
      expect((await test.graph.select(of(newId('workspace')))).nodes).toEqual([]);
    }
  });

  it('holds for a cursor of another workspace', async () => {
    await using test = await TestGraph.open(engine);
    await test.addRoles(test.globex, ['a', 'c', 'e']);
    const [b, d] = await test.addRoles(test.acme, ['b', 'd']);
    const theirPage = await test.graph.select({ type: 'role', anchor: test.globex, orderBy: 'name', limit: 1 });
    const after = theirPage.next ?? expect.fail();
    const page = await test.graph.select({ type: 'role', anchor: test.acme, orderBy: 'name', limit: 10, after });
    expect(page.nodes).toEqual([b, d]);
  });

  it('holds for edges, in both directions', async () => {
    await using test = await TestGraph.open(engine);
    const { ours, theirs } = await twins(test);
    const edge = { from: 'role', edge: 'skills' } as const;
    const roles = [ours.role.id, theirs.role.id];
    const skills = [ours.skill.id, theirs.skill.id];
    const options = { anchor: test.acme, limitEach: 10 };
    const ends = await test.graph.follow(edge, roles, options);
    expect([...ends.values()]).toEqual([[ours.skill], []]);
    const origins = await test.graph.followBack(edge, skills, options);
    expect([...origins.values()]).toEqual([[ours.role], []]);
    const all = await test.graph.follow(edge, roles, { anchor: 'everywhere', limitEach: 10 });
    expect([...all.values()]).toEqual([[ours.skill], [theirs.skill]]);
  });

  it('holds for updates and removals', async () => {
    await using test = await TestGraph.open(engine);
    const { theirs } = await twins(test);
    await test.graph.write(async (transaction) => {
      const update = transaction.update('role', theirs.role.id, { name: 'Mine' }, { anchor: test.acme });
      await expectRefusal(update, 'not_found');
      // The version of an invisible node must not reveal that the node exists.
      const guess = transaction.update('role', theirs.role.id, {}, { anchor: test.acme, ifVersion: 7 });
      await expectRefusal(guess, 'not_found');
      await transaction.remove('role', theirs.role.id, test.acme);
    });
    expect(await test.graph.find('role', theirs.role.id, test.globex)).toEqual(theirs.role);
    const ends = await test.graph.follow({ from: 'role', edge: 'skills' }, [theirs.role.id], {
      anchor: test.globex,
      limitEach: 10,
    });
    expect(ids(ends.get(theirs.role.id) ?? [])).toEqual([theirs.skill.id]);
  });

  it('allows no edge between two workspaces', async () => {
    await using test = await TestGraph.open(engine);
    const { ours, theirs } = await twins(test);
    const link = (from: typeof ours.role.id, to: string) =>
      test.graph.write((transaction) => transaction.link({ from: 'role', edge: 'skills' }, from, [to]));
    await expectRefusal(link(ours.role.id, theirs.skill.id), 'not_found', new RegExp(theirs.skill.id));
    await expectRefusal(link(theirs.role.id, ours.skill.id), 'not_found', new RegExp(ours.skill.id));
    const ends = await test.graph.follow({ from: 'role', edge: 'skills' }, [ours.role.id, theirs.role.id], {
      anchor: 'everywhere',
      limitEach: 10,
    });
    expect([...ends.values()]).toEqual([[ours.skill], [theirs.skill]]);
  });

  it('cannot be bypassed without an anchor', async () => {
    await using test = await TestGraph.open(engine);
    const { ours } = await twins(test);
    for (const anchor of [null, undefined, '', 1, ['everywhere'], {}]) {
      const none = wrong<typeof test.acme>(anchor);
      await expectRefusal(test.graph.find('role', ours.role.id, none), 'invalid_input', /anchor/);
      await expectRefusal(test.graph.select({ type: 'role', anchor: none, limit: 1 }), 'invalid_input', /anchor/);
      await expectRefusal(test.graph.count({ type: 'role', anchor: none, limit: 1 }), 'invalid_input', /anchor/);
      await test.graph.write(async (transaction) => {
        await expectRefusal(transaction.remove('role', ours.role.id, none), 'invalid_input', /anchor/);
        const update = transaction.update('role', ours.role.id, {}, { anchor: none });
        await expectRefusal(update, 'invalid_input', /anchor/);
      });
    }
  });
}

/** Two workspaces in which all objects have the same names. */
async function twins(test: TestGraph) {
  const [ours, theirs] = [await furnished(test, 'acme'), await furnished(test, 'globex')];
  return { ours, theirs };
}

function furnished(test: TestGraph, name: 'acme' | 'globex') {
  const workspace = test[name];
  return test.graph.write(async (transaction) => {
    const role = await transaction.create('role', roleNode(workspace, { name: 'Admin', description: 'Everything' }));
    const skill = await transaction.create('skill', skillNode(workspace, { name: 'Write' }));
    await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
    const tool = await transaction.create('tool', toolNode(workspace, { mcpServer: 'srv_1', originalName: 'echo' }));
    const key = await transaction.create('key', keyNode(workspace, { digest: `digest of ${name}` }));
    return { role, skill, tool, key };
  });
}
