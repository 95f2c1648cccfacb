import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import type { Transaction } from '../graph.ts';
import { openAt } from './graph-address.contract.ts';
import { roleNode, skillNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, ids, inTurn, names, TestGraph } from './test-graph.contract.ts';

export function transactionsContract(engine: GraphEngine): void {
  it('are stored when they are acknowledged, and survive a restart', async () => {
    const test = await TestGraph.open(engine);
    const { role, skill } = await test.graph.write(async (transaction) => {
      const role = await transaction.create('role', roleNode(test.acme, { name: 'Admin' }));
      const skill = await transaction.create('skill', skillNode(test.acme));
      await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
      return { role, skill };
    });
    expect(await test.graph.find('role', role.id, test.acme)).toEqual(role);
    await test.graph.close();
    const again = await openAt(test.address);
    expect(await again.findBy('role', { name: 'Admin' }, test.acme)).toEqual(role);
    expect((await again.select({ type: 'role', anchor: test.acme, search: 'adm', limit: 1 })).nodes).toEqual([role]);
    const options = { anchor: test.acme, limitEach: 10 };
    expect((await again.follow({ from: 'role', edge: 'skills' }, [role.id], options)).get(role.id)).toEqual([skill]);
    await again.close();
  });

  it('leave nothing behind when their work throws, and pass on the error', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    const skill = await test.add('skill', skillNode(test.acme));
    const failure = new Error('no');
    const work = async (transaction: Transaction) => {
      await transaction.create('role', roleNode(test.acme));
      await transaction.update('role', role.id, { name: 'Boss' }, { anchor: test.acme });
      await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
      await transaction.remove('skill', skill.id, test.acme);
      throw failure;
    };
    await expect(test.graph.write(work)).rejects.toBe(failure);
    const thrower = () => {
      throw failure;
    };
    await expect(test.graph.write(thrower)).rejects.toBe(failure);
    expect((await test.graph.select({ type: 'role', anchor: test.acme, limit: 10 })).nodes).toEqual([role]);
    expect((await test.graph.select({ type: 'role', anchor: test.acme, search: 'boss', limit: 10 })).nodes).toEqual([]);
    expect(await test.graph.find('skill', skill.id, test.acme)).toEqual(skill);
    const options = { anchor: test.acme, limitEach: 10 };
    expect((await test.graph.follow({ from: 'role', edge: 'skills' }, [role.id], options)).get(role.id)).toEqual([]);
  });

  it('see their own writes in every kind of read', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write(async (transaction) => {
      const role = await transaction.create('role', roleNode(test.acme, { name: 'Admin' }));
      const skill = await transaction.create('skill', skillNode(test.acme));
      await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
      const selection = { type: 'role', anchor: test.acme, search: 'adm', limit: 10 } as const;
      const options = { anchor: test.acme, limitEach: 10 };
      expect(await transaction.find('role', role.id, test.acme)).toEqual(role);
      expect(await transaction.findBy('role', { name: 'Admin' }, test.acme)).toEqual(role);
      expect((await transaction.select(selection)).nodes).toEqual([role]);
      expect(await transaction.count(selection)).toBe(1);
      const skills = await transaction.follow({ from: 'role', edge: 'skills' }, [role.id], options);
      expect(skills.get(role.id)).toEqual([skill]);
      const roles = await transaction.followBack({ from: 'role', edge: 'skills' }, [skill.id], options);
      expect(roles.get(skill.id)).toEqual([role]);
      await transaction.remove('role', role.id, test.acme);
      expect(await transaction.find('role', role.id, test.acme)).toBeNull();
    });
  });

  it('are invisible to others before they are acknowledged', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    await test.graph.write(async (transaction) => {
      await transaction.update('role', role.id, { name: 'Boss' }, { anchor: test.acme });
      await transaction.create('role', roleNode(test.acme));
      expect(await test.graph.find('role', role.id, test.acme)).toEqual(role);
      expect(await test.graph.findBy('role', { name: 'Boss' }, test.acme)).toBeNull();
      expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(1);
    });
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(2);
  });

  it('read one snapshot, whatever others write meanwhile', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    const begun = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const reading = test.graph.write(async (transaction) => {
      const before = await transaction.find('role', role.id, test.acme);
      begun.resolve();
      await asked.promise;
      return [before, await transaction.find('role', role.id, test.acme)];
    });
    await begun.promise;
    const writing = test.graph.write((transaction) =>
      transaction.update('role', role.id, { name: 'Boss' }, { anchor: test.acme }),
    );
    asked.resolve();
    expect(await reading).toEqual([role, role]);
    expect(await writing).toMatchObject({ name: 'Boss' });
  });

  it('that increment the same number concurrently all count', async () => {
    await using test = await TestGraph.open(engine);
    const raise = () =>
      test.graph.write(async (transaction) => {
        const { revision } = (await transaction.find('workspace', test.acme, null)) ?? expect.fail();
        await new Promise((resolve) => setImmediate(resolve));
        await transaction.update('workspace', test.acme, { revision: revision + 1 }, { anchor: null });
      });
    await Promise.all(Array.from({ length: 50 }, raise));
    expect(await test.graph.find('workspace', test.acme, null)).toMatchObject({ revision: 50, version: 51 });
  });

  it('enforce a rule over several nodes if each of them writes the same guard node', async () => {
    await using test = await TestGraph.open(engine);
    // The rule is at most three roles. Two transactions that both count two would add a fourth.
    const addRole = () =>
      test.graph.write(async (transaction) => {
        const { revision } = (await transaction.find('workspace', test.acme, null)) ?? expect.fail();
        const roles = await transaction.count({ type: 'role', anchor: test.acme, limit: 1 });
        await new Promise((resolve) => setImmediate(resolve));
        if (roles === 3) return false;
        await transaction.create('role', roleNode(test.acme));
        await transaction.update('workspace', test.acme, { revision: revision + 1 }, { anchor: null });
        return true;
      });
    const added = await Promise.all(Array.from({ length: 10 }, addRole));
    expect(added.filter(Boolean)).toHaveLength(3);
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(3);
  });

  it('raise the version of a node with every update, and refuse an outdated version', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme));
    expect(role.version).toBe(1);
    const update = (changes: { description?: string }, ifVersion?: number) =>
      test.graph.write((transaction) =>
        transaction.update('role', role.id, changes, {
          anchor: test.acme,
          ...(ifVersion === undefined ? {} : { ifVersion }),
        }),
      );
    expect(await update({ description: 'a' }, 1)).toMatchObject({ version: 2, description: 'a' });
    await expectRefusal(update({ description: 'b' }, 1), 'conflict', /version 2, not 1/);
    expect(await update({})).toMatchObject({ version: 3, description: 'a' });
    // Two people both saw version 3, so one of them gets the conflict.
    const outcomes = await Promise.allSettled([update({ description: 'c' }, 3), update({ description: 'd' }, 3)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('keep the version of a node for values that the platform itself notes', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme));
    const note = (transaction: Transaction) =>
      transaction.update('role', role.id, { description: 'noted' }, { anchor: test.acme, keepsVersion: true });
    expect(await test.graph.write(note)).toMatchObject({ version: 1, description: 'noted' });
    expect(await test.graph.find('role', role.id, test.acme)).toMatchObject({ version: 1, description: 'noted' });
  });

  it('update existing nodes only, and removing a missing node is no error', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme));
    await test.graph.write(async (transaction) => {
      await transaction.remove('role', role.id, test.acme);
      await transaction.remove('role', role.id, test.acme);
      const gone = transaction.update('role', role.id, { name: 'x' }, { anchor: test.acme });
      await expectRefusal(gone, 'not_found', new RegExp(role.id));
      const never = transaction.update('role', newId('role'), { name: 'x' }, { anchor: test.acme, ifVersion: 1 });
      await expectRefusal(never, 'not_found');
    });
    expect(await test.graph.find('role', role.id, test.acme)).toBeNull();
  });

  it('cannot be used after their end', async () => {
    await using test = await TestGraph.open(engine);
    const kept: Transaction[] = [];
    await test.graph.write(async (transaction) => {
      kept.push(transaction);
    });
    const [transaction = expect.fail()] = kept;
    await expectRefusal(transaction.create('role', roleNode(test.acme)), 'internal', /after its end/);
    await expectRefusal(transaction.find('role', newId('role'), test.acme), 'internal', /after its end/);
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(0);
  });

  it('run in large numbers at once, beside reads', async () => {
    await using test = await TestGraph.open(engine);
    const wanted = Array.from({ length: 200 }, (_, i) => `role ${String(i).padStart(3, '0')}`);
    const writes = wanted.map((name) => test.add('role', roleNode(test.acme, { name })));
    const reads = wanted.map(() => test.graph.count({ type: 'role', anchor: test.acme, limit: 1 }));
    const [created, counts] = [await Promise.all(writes), await Promise.all(reads)];
    expect(names(created)).toEqual(wanted);
    expect(Math.max(...counts)).toBeLessThanOrEqual(wanted.length);
    const { nodes } = await test.graph.select({ type: 'role', anchor: test.acme, limit: 1000 });
    expect(new Set(ids(nodes))).toEqual(new Set(ids(created)));
  });

  it('of many nodes are stored completely', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([...Array(2000).keys()], (i) => transaction.create('role', roleNode(test.acme, { name: `${i}` }))),
    );
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(2000);
  });

  it('are refused once the graph is closed, like every other operation', async () => {
    const test = await TestGraph.open(engine);
    const last = test.add('role', roleNode(test.acme));
    await test.graph.ready();
    await Promise.all([test.graph.close(), test.graph.close()]);
    // Earlier requests are carried out.
    await last;
    await expectRefusal(test.add('role', roleNode(test.acme)), 'unavailable', /closed/);
    await expectRefusal(test.graph.find('role', newId('role'), test.acme), 'unavailable', /closed/);
    await expectRefusal(test.graph.select({ type: 'role', anchor: test.acme, limit: 1 }), 'unavailable', /closed/);
    await expectRefusal(test.graph.ready(), 'unavailable', /closed/);
  });
}
