import { expect, it } from 'vitest';
import { type Condition, pageMax } from '../graph.ts';
import { roleNode, toolNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, inTurn, names, TestGraph, wrong } from './test-graph.contract.ts';

export function conditionsContract(engine: GraphEngine): void {
  it('compare with one value', async () => {
    await using test = await TestGraph.open(engine);
    await test.addRoles(test.acme, ['a', 'A', 'ab']);
    expect(await rolesWhere(test, [{ field: 'name', equals: 'a' }])).toEqual(['a']);
    expect(await rolesWhere(test, [{ field: 'name', equals: 'b' }])).toEqual([]);
    expect(await rolesWhere(test, [{ field: 'createdAt', equals: 1 }])).toEqual(['A', 'a', 'ab']);
  });

  it('compare with any of many values', async () => {
    await using test = await TestGraph.open(engine);
    await test.addRoles(test.acme, ['a', 'b', 'c', "d'", 'e"\\']);
    expect(await rolesWhere(test, [{ field: 'name', in: ['c', 'a', 'c', 'x'] }])).toEqual(['a', 'c']);
    expect(await rolesWhere(test, [{ field: 'name', in: ["d'", 'e"\\'] }])).toEqual(["d'", 'e"\\']);
    expect(await rolesWhere(test, [{ field: 'name', in: [] }])).toEqual([]);
    expect(await rolesWhere(test, [{ field: 'createdAt', in: [1, 2] }])).toHaveLength(5);
    const many = Array.from({ length: pageMax }, (_, i) => `role ${i}`);
    expect(await rolesWhere(test, [{ field: 'name', in: [...many.slice(1), 'a'] }])).toEqual(['a']);
    await expectRefusal(rolesWhere(test, [{ field: 'name', in: [...many, 'a'] }]), 'invalid_input', /1001/);
  });

  it('compare with a prefix, in which no character has a special meaning', async () => {
    await using test = await TestGraph.open(engine);
    const all = [
      '',
      '%',
      '%a',
      '*',
      '_b',
      'A',
      'a',
      'a%',
      'ab',
      'b',
      '\ud7ff',
      '\ud7ffx',
      '\ue000',
      '\u{10ffff}',
      '\u{10ffff}y',
    ];
    await test.addRoles(test.acme, all);
    const beginning = (prefix: string) => rolesWhere(test, [{ field: 'name', prefix }]);
    expect(await beginning('a')).toEqual(['a', 'a%', 'ab']);
    expect(await beginning('%')).toEqual(['%', '%a']);
    expect(await beginning('_')).toEqual(['_b']);
    expect(await beginning('\ud7ff')).toEqual(['\ud7ff', '\ud7ffx']);
    expect(await beginning('\u{10ffff}')).toEqual(['\u{10ffff}', '\u{10ffff}y']);
    expect(await beginning('')).toHaveLength(all.length);
    expect(await beginning('c')).toEqual([]);
  });

  it('compare with a range that includes its start and not its end', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([-5, 0, 5, 10], (createdAt) =>
        transaction.create('role', roleNode(test.acme, { createdAt, name: `${createdAt}` })),
      ),
    );
    const range = (from?: number, below?: number) =>
      rolesWhere(test, [
        { field: 'createdAt', ...(from === undefined ? {} : { from }), ...(below === undefined ? {} : { below }) },
      ]);
    expect(await range(0, 10)).toEqual(['0', '5']);
    expect(await range(-5)).toEqual(['-5', '0', '10', '5']);
    expect(await range(undefined, 0)).toEqual(['-5']);
    expect(await range(10, 0)).toEqual([]);
  });

  it('must all hold, for pages and for counts', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([...Array(30).keys()], (i) =>
        transaction.create('role', roleNode(test.acme, { createdAt: i, name: `${i % 2 ? 'odd' : 'even'} ${i}` })),
      ),
    );
    const where: Condition<'role'>[] = [
      { field: 'name', prefix: 'odd' },
      { field: 'createdAt', from: 10 },
      { field: 'createdAt', below: 20 },
    ];
    expect(await rolesWhere(test, where)).toEqual(['odd 11', 'odd 13', 'odd 15', 'odd 17', 'odd 19']);
    expect(await test.graph.count({ type: 'role', anchor: test.acme, where, limit: 2 })).toBe(5);
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(30);
    const paged = { type: 'role', anchor: test.acme, where, orderBy: 'createdAt', descending: true, limit: 2 } as const;
    const first = await test.graph.select(paged);
    const second = await test.graph.select({ ...paged, after: first.next ?? expect.fail() });
    expect(names([...first.nodes, ...second.nodes])).toEqual(['odd 19', 'odd 17', 'odd 15', 'odd 13']);
  });

  it('never hold for a field without a value', async () => {
    await using test = await TestGraph.open(engine);
    await test.add('tool', toolNode(test.acme, { name: null }));
    await test.add('tool', toolNode(test.acme, { name: 'echo' }));
    const where = (condition: Condition<'tool'>) =>
      test.graph.count({ type: 'tool', anchor: test.acme, where: [condition], limit: 1 });
    expect(await where({ field: 'name', prefix: '' })).toBe(1);
    expect(await where({ field: 'name', equals: '' })).toBe(0);
    expect(await where({ field: 'name', in: ['', 'echo', 'null'] })).toBe(1);
  });

  it('on fields without an index, and with values of another type, are refused', async () => {
    await using test = await TestGraph.open(engine);
    const refused: [unknown, RegExp][] = [
      [{ field: 'description', equals: '' }, /"description"/],
      [{ field: 'enabled', equals: true }, /"enabled"/],
      [{ field: 'nme', equals: '' }, /"nme"/],
      [{ field: 'workspace', equals: test.acme }, /"workspace"/],
      [{ field: 'name"; drop table role; --', equals: '' }, /not an indexed field/],
      [{ field: 'name', equals: 1 }, /text/],
      [{ field: 'name', equals: null }, /text/],
      [{ field: 'name', in: ['a', 1] }, /text/],
      [{ field: 'name', equals: '\ud800' }, /well-formed/],
      [{ field: 'name', from: 1 }, /text|range/],
      [{ field: 'name' }, /nothing/],
      [{ field: 'createdAt', equals: '1' }, /whole number/],
      [{ field: 'createdAt', prefix: '1' }, /whole number|prefix/],
      [{ field: 'createdAt', from: 1.5 }, /whole number/],
    ];
    for (const [condition, message] of refused) {
      await expectRefusal(rolesWhere(test, [wrong<Condition<'role'>>(condition)]), 'invalid_input', message);
    }
  });
}

async function rolesWhere(test: TestGraph, where: readonly Condition<'role'>[]) {
  return names(
    (await test.graph.select({ type: 'role', anchor: test.acme, where, orderBy: 'name', limit: 100 })).nodes,
  );
}
