import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { pageMax } from '../graph.ts';
import { keyNode, memberNode, roleNode, skillNode, userNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, ids, inTurn, TestGraph, wrong } from './test-graph.contract.ts';

const roleSkills = { from: 'role', edge: 'skills' } as const;

export function edgesContract(engine: GraphEngine): void {
  it('are followed in both directions', async () => {
    await using test = await TestGraph.open(engine);
    const { role, skills } = await roleWithSkills(test, 3);
    const [first] = skills;
    const options = { anchor: test.acme, limitEach: 10 };
    const ends = await test.graph.follow(roleSkills, [role.id], options);
    expect(ends.get(role.id)).toEqual(skills);
    const origins = await test.graph.followBack(roleSkills, ids(skills), options);
    expect(origins.get(first?.id ?? '')).toEqual([role]);
    expect([...origins.keys()]).toEqual(ids(skills));
  });

  it('are a set', async () => {
    await using test = await TestGraph.open(engine);
    const { role, skills } = await roleWithSkills(test, 2);
    await test.graph.write(async (transaction) => {
      await transaction.link(roleSkills, role.id, [...ids(skills), ...ids(skills)]);
      await transaction.link(roleSkills, role.id, ids(skills));
    });
    expect(await skillsOf(test, role.id)).toEqual(ids(skills));
  });

  it('are followed for many nodes at once, with an empty list for a node without edges', async () => {
    await using test = await TestGraph.open(engine);
    const skills = await addSkills(test, 3);
    const roles = await test.addRoles(test.acme, ['a', 'b', 'c']);
    const [a, b, c] = ids(roles);
    await test.graph.write((transaction) =>
      inTurn(roles.slice(0, 2), (role) => transaction.link(roleSkills, role.id, ids(skills))),
    );
    const asked = [a, b, c, a, 'rol_unknown'].map(String);
    const ends = await test.graph.follow(roleSkills, asked, { anchor: test.acme, limitEach: 10 });
    expect([...ends].map(([id, nodes]) => [id, ids(nodes)])).toEqual([
      [a, ids(skills)],
      [b, ids(skills)],
      [c, []],
      ['rol_unknown', []],
    ]);
    expect(await test.graph.follow(roleSkills, [], { anchor: test.acme, limitEach: 10 })).toEqual(new Map());
  });

  it('are returned in the order of ids, up to the requested number for each node', async () => {
    await using test = await TestGraph.open(engine);
    const skills = await addSkills(test, 5);
    const roles = await test.addRoles(test.acme, ['a', 'b']);
    const reversed = [...ids(skills)].reverse();
    await test.graph.write((transaction) => inTurn(roles, (role) => transaction.link(roleSkills, role.id, reversed)));
    const ends = await test.graph.follow(roleSkills, ids(roles), { anchor: test.acme, limitEach: 2 });
    for (const nodes of ends.values()) expect(ids(nodes)).toEqual(ids(skills).slice(0, 2));
  });

  it('to nodes with more text than the limit are refused', async () => {
    await using test = await TestGraph.open(engine);
    const { role, skills } = await roleWithSkills(test, 3);
    const texts = skills.flatMap((skill) => Object.values(skill)).filter((value) => typeof value === 'string');
    const textMax = texts.join('').length;
    const follow = (max: number) =>
      test.graph.follow(roleSkills, [role.id], { anchor: test.acme, limitEach: 10, textMax: max });
    expect((await follow(textMax)).get(role.id)).toEqual(skills);
    await expectRefusal(follow(textMax / 2), 'too_large');
  });

  it('are removed, and removing a missing edge is no error', async () => {
    await using test = await TestGraph.open(engine);
    const { role, skills } = await roleWithSkills(test, 3);
    const [first = '', second = '', third] = ids(skills);
    await test.graph.write(async (transaction) => {
      await transaction.unlink(roleSkills, role.id, [first, second]);
      await transaction.unlink(roleSkills, role.id, [first, newId('skill')]);
      await transaction.unlink(roleSkills, newId('role'), [first]);
    });
    expect(await skillsOf(test, role.id)).toEqual([third]);
  });

  it('to or from a missing node are refused, and then no edge is added', async () => {
    await using test = await TestGraph.open(engine);
    const [skill] = await addSkills(test, 1);
    const role = await test.add('role', roleNode(test.acme));
    const link = (from: typeof role.id, to: string[]) =>
      test.graph.write((transaction) => transaction.link(roleSkills, from, to));
    const missing = newId('skill');
    await expectRefusal(link(role.id, [skill?.id ?? '', missing]), 'not_found', new RegExp(missing));
    await expectRefusal(link(newId('role'), [skill?.id ?? '']), 'not_found', /role/);
    // An id of another type counts as missing, too.
    await expectRefusal(link(role.id, [role.id]), 'not_found');
    await test.graph.write(async (transaction) => {
      await expectRefusal(transaction.link(roleSkills, role.id, [skill?.id ?? '', missing]), 'not_found');
    });
    expect(await skillsOf(test, role.id)).toEqual([]);
  });

  it('are removed with either of their ends', async () => {
    await using test = await TestGraph.open(engine);
    const { role, skills } = await roleWithSkills(test, 3);
    const [gone = expect.fail(), ...rest] = skills;
    await test.graph.write((transaction) => transaction.remove('skill', gone.id, test.acme));
    expect(await skillsOf(test, role.id)).toEqual(ids(rest));
    await test.add('skill', gone);
    expect(await skillsOf(test, role.id)).toEqual(ids(rest));
    await test.graph.write((transaction) => transaction.remove('role', role.id, test.acme));
    const options = { anchor: test.acme, limitEach: 10 };
    const origins = await test.graph.followBack(roleSkills, ids(skills), options);
    expect([...origins.values()]).toEqual([[], [], []]);
    // A node that is created again with the same id has no edges.
    await test.add('role', role);
    expect(await skillsOf(test, role.id)).toEqual([]);
    const back = await test.graph.followBack(roleSkills, ids(skills), options);
    expect([...back.values()]).toEqual([[], [], []]);
  });

  it('lead from nodes of each workspace to a shared node, and each workspace sees its own edges only', async () => {
    await using test = await TestGraph.open(engine);
    const user = await test.add('user', userNode());
    const person = { from: 'member', edge: 'person' } as const;
    const [ours, theirs] = await test.graph.write((transaction) =>
      inTurn([test.acme, test.globex], async (workspace) => {
        const member = await transaction.create('member', memberNode(workspace, user.id));
        await transaction.link(person, member.id, [user.id]);
        return member;
      }),
    );
    const back = async (anchor: typeof test.acme | 'everywhere') =>
      (await test.graph.followBack(person, [user.id], { anchor, limitEach: 10 })).get(user.id);
    expect(await back(test.acme)).toEqual([ours]);
    expect(await back(test.globex)).toEqual([theirs]);
    expect(await back('everywhere')).toHaveLength(2);
  });

  it('with one name are separate from those with another name between the same types', async () => {
    await using test = await TestGraph.open(engine);
    const [key, role] = [keyNode(test.acme), roleNode(test.acme)];
    await test.graph.write(async (transaction) => {
      await transaction.create('key', key);
      await transaction.create('role', role);
      await transaction.link({ from: 'key', edge: 'roles' }, key.id, [role.id]);
    });
    const options = { anchor: test.acme, limitEach: 10 };
    expect((await test.graph.followBack({ from: 'key', edge: 'roles' }, [role.id], options)).get(role.id)).toHaveLength(
      1,
    );
    expect((await test.graph.follow({ from: 'key', edge: 'user' }, [key.id], options)).get(key.id)).toEqual([]);
  });

  it('with an unknown name, too many ids or impossible limits are refused', async () => {
    await using test = await TestGraph.open(engine);
    const options = { anchor: test.acme, limitEach: 10 };
    const { graph } = test;
    await expectRefusal(
      graph.follow(wrong<typeof roleSkills>({ from: 'role', edge: 'tools' }), [], options),
      'invalid_input',
      /"tools"/,
    );
    await expectRefusal(
      graph.follow(wrong<typeof roleSkills>({ from: 'role', edge: 'constructor' }), [], options),
      'invalid_input',
    );
    const many = Array.from({ length: pageMax + 1 }, (_, i) => `rol_${i}`);
    await expectRefusal(graph.follow(roleSkills, many, options), 'invalid_input', /1001/);
    for (const limitEach of [0, pageMax + 1, 1.5, Number.NaN]) {
      await expectRefusal(graph.follow(roleSkills, [], { ...options, limitEach }), 'invalid_input', /limit/);
    }
    await expectRefusal(graph.follow(roleSkills, [], wrong({ limitEach: 10 })), 'invalid_input', /anchor/);
  });
}

function addSkills(test: TestGraph, count: number) {
  return test.graph.write((transaction) =>
    inTurn(
      Array.from({ length: count }, (_, i) => skillNode(test.acme, { id: newId('skill', i) })),
      (node) => transaction.create('skill', node),
    ),
  );
}

async function roleWithSkills(test: TestGraph, count: number) {
  const skills = await addSkills(test, count);
  const role = await test.add('role', roleNode(test.acme));
  await test.graph.write((transaction) => transaction.link(roleSkills, role.id, ids(skills)));
  return { role, skills };
}

async function skillsOf(test: TestGraph, role: string): Promise<string[]> {
  const ends = await test.graph.follow(roleSkills, [role], { anchor: test.acme, limitEach: 10 });
  return ids(ends.get(role) ?? []);
}
