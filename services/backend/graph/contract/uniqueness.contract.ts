import { expect, it } from 'vitest';
import type { WorkspaceId } from '../../../contracts/ids.ts';
import { keyNode, roleNode, toolNode, userNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, names, TestGraph, wrong } from './test-graph.contract.ts';

export function uniquenessContract(engine: GraphEngine): void {
  it('refuses a second node with the same unique field and names the field', async () => {
    await using test = await TestGraph.open(engine);
    await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    await expectRefusal(test.add('role', roleNode(test.acme, { name: 'Admin' })), 'conflict', /"name"/);
    await test.add('user', userNode({ email: 'ann@example.com' }));
    await expectRefusal(test.add('user', userNode({ email: 'ann@example.com' })), 'conflict', /"email"/);
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(1);
  });

  it('applies to each workspace separately', async () => {
    await using test = await TestGraph.open(engine);
    const one = await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    const other = await test.add('role', roleNode(test.globex, { name: 'Admin' }));
    expect(await test.graph.findBy('role', { name: 'Admin' }, test.acme)).toEqual(one);
    expect(await test.graph.findBy('role', { name: 'Admin' }, test.globex)).toEqual(other);
  });

  it('compares text exactly', async () => {
    await using test = await TestGraph.open(engine);
    const spellings = ['Admin', 'admin', 'Admin ', 'Ädmin', 'A\u0308dmin', ''];
    await test.addRoles(test.acme, spellings);
    for (const name of spellings) {
      expect(await test.graph.findBy('role', { name }, test.acme)).toMatchObject({ name });
    }
  });

  it('of several fields refuses only if all of them are equal', async () => {
    await using test = await TestGraph.open(engine);
    const tool = (mcpServer: string, originalName: string) => toolNode(test.acme, { mcpServer, originalName });
    const first = await test.add('tool', tool('srv_1', 'echo'));
    await test.add('tool', tool('srv_1', 'add'));
    await test.add('tool', tool('srv_2', 'echo'));
    await expectRefusal(test.add('tool', tool('srv_1', 'echo')), 'conflict', /"mcpServer" and "originalName"/);
    const values = { originalName: 'echo', mcpServer: 'srv_1' };
    expect(await test.graph.findBy('tool', values, test.acme)).toEqual(first);
  });

  it('of several fields does not join two values', async () => {
    await using test = await TestGraph.open(engine);
    await test.add('tool', toolNode(test.acme, { mcpServer: 'a', originalName: 'b\u001fc' }));
    await test.add('tool', toolNode(test.acme, { mcpServer: 'a\u001fb', originalName: 'c' }));
    expect(await test.graph.count({ type: 'tool', anchor: test.acme, limit: 1 })).toBe(2);
  });

  it('does not check a combination with null, and checks it once it has a value', async () => {
    await using test = await TestGraph.open(engine);
    const [one, two] = [toolNode(test.acme), toolNode(test.acme)];
    await test.add('tool', one);
    await test.add('tool', two);
    const name = (id: typeof one.id) =>
      test.graph.write((transaction) => transaction.update('tool', id, { name: 'echo' }, { anchor: test.acme }));
    await name(one.id);
    await expectRefusal(name(two.id), 'conflict', /"name"/);
  });

  it('frees a value that a node gives up', async () => {
    await using test = await TestGraph.open(engine);
    const key = await test.add('key', keyNode(test.acme, { activeName: 'ci' }));
    await expectRefusal(test.add('key', keyNode(test.acme, { activeName: 'ci' })), 'conflict', /"activeName"/);
    await test.graph.write(async (transaction) => {
      await transaction.update('key', key.id, { activeName: null }, { anchor: test.acme });
      await transaction.create('key', keyNode(test.acme, { activeName: 'ci' }));
    });
    const role = await test.add('role', roleNode(test.acme, { name: 'Admin' }));
    await test.graph.write(async (transaction) => {
      await transaction.remove('role', role.id, test.acme);
      await transaction.create('role', roleNode(test.acme, { name: 'Admin' }));
    });
    expect(await test.graph.count({ type: 'key', anchor: test.acme, limit: 1 })).toBe(2);
  });

  it('applies to all workspaces if the schema says so', async () => {
    await using test = await TestGraph.open(engine);
    const key = await test.add('key', keyNode(test.acme, { digest: 'd1' }));
    await expectRefusal(test.add('key', keyNode(test.globex, { digest: 'd1' })), 'conflict', /"digest"/);
    expect(await test.graph.findBy('key', { digest: 'd1' }, 'everywhere')).toEqual(key);
    expect(await test.graph.findBy('key', { digest: 'd1' }, test.acme)).toEqual(key);
    expect(await test.graph.findBy('key', { digest: 'd1' }, test.globex)).toBeNull();
  });

  it('applies to updates, but a node may keep its own value', async () => {
    await using test = await TestGraph.open(engine);
    const [admin, viewer] = await test.addRoles(test.acme, ['Admin', 'Viewer']);
    const rename = (name: string) =>
      test.graph.write((transaction) =>
        transaction.update('role', viewer?.id ?? expect.fail(), { name }, { anchor: test.acme }),
      );
    await expectRefusal(rename('Admin'), 'conflict', /"name"/);
    expect(await rename('Viewer')).toMatchObject({ name: 'Viewer' });
    expect(await test.graph.findBy('role', { name: 'Admin' }, test.acme)).toEqual(admin);
  });

  it('applies to ids', async () => {
    await using test = await TestGraph.open(engine);
    const role = roleNode(test.acme, { name: 'one' });
    await test.add('role', role);
    await expectRefusal(test.add('role', { ...role, name: 'two' }), 'conflict', /"id"/);
    await expectRefusal(test.add('role', { ...role, workspace: test.globex }), 'conflict', /"id"/);
  });

  it('lets one of many concurrent writers through', async () => {
    await using test = await TestGraph.open(engine);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => test.add('role', roleNode(test.acme, { name: 'Admin' }))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    }
    const digests = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => test.add('key', keyNode(i % 2 ? test.acme : test.globex, { digest: 'd' }))),
    );
    expect(digests.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('can be violated without harm to the rest of the transaction', async () => {
    await using test = await TestGraph.open(engine);
    await test.addRoles(test.acme, ['Admin']);
    await test.graph.write(async (transaction) => {
      await transaction.create('role', roleNode(test.acme, { name: 'Before' }));
      await expectRefusal(transaction.create('role', roleNode(test.acme, { name: 'Admin' })), 'conflict');
      await transaction.create('role', roleNode(test.acme, { name: 'After' }));
    });
    const { nodes } = await test.graph.select({ type: 'role', anchor: test.acme, orderBy: 'name', limit: 10 });
    expect(names(nodes)).toEqual(['Admin', 'After', 'Before']);
  });

  it('allows a node to be found by its unique fields only', async () => {
    await using test = await TestGraph.open(engine);
    const { graph, acme } = test;
    expect(await graph.findBy('role', { name: 'nobody' }, acme)).toBeNull();
    await expectRefusal(graph.findBy('role', { description: '' }, acme), 'invalid_input', /"description"/);
    await expectRefusal(graph.findBy('role', {}, acme), 'invalid_input');
    await expectRefusal(graph.findBy('role', wrong({ nme: 'x' }), acme), 'invalid_input', /"nme"/);
    await expectRefusal(graph.findBy('tool', { mcpServer: 'a' }, acme), 'invalid_input', /"mcpServer"/);
    await expectRefusal(graph.findBy('key', { activeName: null }, acme), 'invalid_input', /null/);
    await expectRefusal(graph.findBy('role', { name: 'Admin' }, 'everywhere'), 'invalid_input', /workspace/);
    await expectRefusal(graph.findBy('role', { name: 'Admin' }, wrong<WorkspaceId>(undefined)), 'invalid_input');
  });
}
