import { expect, it } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { carryContent, changesBetween, type GraphContent, readContent } from './content.ts';
import { type GraphAddress, openAt } from './contract/graph-address.contract.ts';
import {
  keyNode,
  memberNode,
  roleNode,
  skillNode,
  toolNode,
  userNode,
  workspaceNode,
} from './contract/sample-nodes.contract.ts';
import { inTurn } from './contract/test-graph.contract.ts';
import type { Graph } from './graph.ts';

/** An engine whose graphs can be read and filled while no backend has them open. */
export interface ContentEngine {
  readonly name: string;
  empty(): Promise<GraphAddress>;
  open(address: GraphAddress): Promise<GraphContent>;
}

export function contentContract(engine: ContentEngine): void {
  it('content copied into an empty graph is equal to the last byte, and the graph works', async () => {
    const [from, to] = [await engine.empty(), await engine.empty()];
    const furnished = await filled(from);
    const before = await using(engine, from, readContent);
    expect(before.map(({ kind, count }) => `${kind} ${count}`)).toEqual([
      'graph 20',
      'edge.key.roles 1',
      'edge.member.person 2',
      'edge.role.skills 5',
      'key 1',
      'member 2',
      'role 1',
      'skill 5',
      'tool 1',
      'user 1',
      'workspace 1',
    ]);
    const carried = await using(engine, from, (source) => using(engine, to, (target) => carryContent(source, target)));
    expect(carried).toEqual(before);
    expect(await using(engine, to, readContent)).toEqual(before);

    const graph = await openAt(to);
    const { workspace, role, skills, key } = furnished;
    expect(await graph.find('role', role.id, workspace)).toEqual(role);
    expect(await graph.findBy('key', { digest: key.digest }, 'everywhere')).toEqual(key);
    const { nodes } = await graph.select({
      type: 'skill',
      anchor: workspace,
      search: 'ski',
      orderBy: 'name',
      limit: 10,
    });
    expect(nodes).toEqual(skills);
    const options = { anchor: workspace, limitEach: 10 };
    expect((await graph.follow({ from: 'role', edge: 'skills' }, [role.id], options)).get(role.id)).toEqual(skills);
    const twice = graph.write((transaction) => transaction.create('role', roleNode(workspace, { name: role.name })));
    await expect(twice).rejects.toMatchObject({ code: 'conflict' });
    await graph.close();
  });

  it('one changed value changes the digest of its kind and of the whole graph, and no other digest', async () => {
    const address = await engine.empty();
    const { workspace } = await filled(address);
    const before = await using(engine, address, readContent);
    const graph = await openAt(address);
    await graph.write((transaction) => transaction.update('workspace', workspace, { name: 'b' }, { anchor: null }));
    await graph.close();
    const after = await using(engine, address, readContent);
    const changed = after.filter(({ kind, digest }) => before.find((one) => one.kind === kind)?.digest !== digest);
    expect(changed.map(({ kind }) => kind)).toEqual(['graph', 'workspace']);
  });

  it('counts added, changed and removed nodes by kind', async () => {
    const [then, now] = [await engine.empty(), await engine.empty()];
    const { workspace, role, skills } = await filled(then);
    await using(engine, then, (source) => using(engine, now, (target) => carryContent(source, target)));
    const compare = () => using(engine, then, (before) => using(engine, now, (after) => changesBetween(before, after)));
    expect(await compare()).toEqual([]);
    const graph = await openAt(now);
    await graph.write(async (transaction) => {
      await transaction.create('role', roleNode(workspace));
      await transaction.update('role', role.id, { description: 'else' }, { anchor: workspace });
      await transaction.remove('skill', skills[0]?.id ?? expect.fail(), workspace);
    });
    await graph.close();
    expect(await compare()).toEqual([
      { kind: 'role', added: 1, changed: 1, removed: 0 },
      { kind: 'skill', added: 0, changed: 0, removed: 1 },
      { kind: 'edge.role.skills', added: 0, changed: 0, removed: 1 },
    ]);
  });

  it('a copy stops when the signal aborts', async () => {
    const [from, to] = [await engine.empty(), await engine.empty()];
    await filled(from);
    const stopped = AbortSignal.abort(new Error('enough'));
    await using(engine, from, async (source) => {
      await expect(readContent(source, stopped)).rejects.toThrow('enough');
      await using(engine, to, (target) => expect(carryContent(source, target, stopped)).rejects.toThrow('enough'));
    });
  });

  it('thousands of nodes and edges are copied completely', async () => {
    const [from, to] = [await engine.empty(), await engine.empty()];
    const graph = await openAt(from);
    const { id: workspace } = await graph.write((transaction) => transaction.create('workspace', workspaceNode()));
    for (let round = 0; round < 3; round++) {
      await graph.write(async (transaction) => {
        const role = await transaction.create('role', roleNode(workspace));
        const skills = await inTurn([...Array(900).keys()], () => transaction.create('skill', skillNode(workspace)));
        await transaction.link(
          { from: 'role', edge: 'skills' },
          role.id,
          skills.map(({ id }) => id),
        );
      });
    }
    await graph.close();
    await using(engine, from, (source) => using(engine, to, (target) => carryContent(source, target)));
    const [whole, ...kinds] = await using(engine, to, readContent);
    expect(whole?.count).toBe(1 + 3 + 2 * 2700);
    expect([whole, ...kinds]).toEqual(await using(engine, from, readContent));
  }, 120_000);
}

export async function using<Result>(
  engine: ContentEngine,
  address: GraphAddress,
  work: (content: GraphContent) => Promise<Result>,
): Promise<Result> {
  const content = await engine.open(address);
  try {
    return await work(content);
  } finally {
    await content.close();
  }
}

/** A graph with every special case: an owned type and one that is not, edges of both, nulls, versions above 1. */
export async function filled(address: GraphAddress) {
  const graph: Graph = await openAt(address);
  const { id: workspace } = await graph.write((transaction) =>
    transaction.create('workspace', workspaceNode({ name: 'a' })),
  );
  const furnished = await graph.write(async (transaction) => {
    const role = await transaction.create('role', roleNode(workspace, { name: ' é"\u{1f600}', createdAt: -1 }));
    const skills = await inTurn([...Array(5).keys()], (i) =>
      transaction.create(
        'skill',
        skillNode(workspace, { id: newId('skill', i), name: `Skill ${i}`, instructions: 'x'.repeat(10_000) }),
      ),
    );
    await transaction.link(
      { from: 'role', edge: 'skills' },
      role.id,
      skills.map(({ id }) => id),
    );
    await transaction.create('tool', toolNode(workspace));
    const key = await transaction.create('key', keyNode(workspace, { expiresAt: Number.MAX_SAFE_INTEGER }));
    await transaction.link({ from: 'key', edge: 'roles' }, key.id, [role.id]);
    const user = await transaction.create('user', userNode());
    for (const name of [user.id, 'another']) {
      const member = await transaction.create('member', memberNode(workspace, name));
      await transaction.link({ from: 'member', edge: 'person' }, member.id, [user.id]);
    }
    return { role, skills, key };
  });
  const role = await graph.write((transaction) =>
    transaction.update('role', furnished.role.id, { enabled: false }, { anchor: workspace }),
  );
  await graph.close();
  return { workspace, ...furnished, role };
}
