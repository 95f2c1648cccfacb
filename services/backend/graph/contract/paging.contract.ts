import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { type Cursor, pageMax } from '../graph.ts';
import { roleNode, settingNode, toolNode } from './sample-nodes.contract.ts';
import {
  allPages,
  expectRefusal,
  type GraphEngine,
  ids,
  inTurn,
  names,
  TestGraph,
  wrong,
} from './test-graph.contract.ts';

export function pagingContract(engine: GraphEngine): void {
  it('orders text by its bytes, in both directions', async () => {
    await using test = await TestGraph.open(engine);
    // In UTF-16, JavaScript's own order, U+1F600 would come before U+FF5E.
    const inOrder = [
      '',
      ' ',
      '-1',
      '10',
      '9',
      'B',
      'a',
      'aa',
      'b',
      '~',
      'é',
      '中',
      '\uff5e',
      '\u{1f600}',
      '\u{10ffff}',
    ];
    await test.addRoles(test.acme, [...inOrder].sort());
    const selection = { type: 'role', anchor: test.acme, orderBy: 'name', limit: 4 } as const;
    expect(names(await allPages(test.graph, selection))).toEqual(inOrder);
    expect(names(await allPages(test.graph, { ...selection, descending: true }))).toEqual([...inOrder].reverse());
  });

  it('orders numbers by value, and equal numbers by id', async () => {
    await using test = await TestGraph.open(engine);
    const times = [10, 9, -1, 0, 2 ** 40, 9, 9, 100];
    const roles = await test.graph.write((transaction) =>
      inTurn(times, (createdAt) => transaction.create('role', roleNode(test.acme, { createdAt }))),
    );
    const inOrder = [...roles].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    for (const limit of [1, 2, 3, 8, 100]) {
      const selection = { type: 'role', anchor: test.acme, orderBy: 'createdAt', limit } as const;
      expect(ids(await allPages(test.graph, selection))).toEqual(ids(inOrder));
      expect(ids(await allPages(test.graph, { ...selection, descending: true }))).toEqual(ids(inOrder).reverse());
    }
  });

  it('orders by id, and so by time of creation, without a requested order', async () => {
    await using test = await TestGraph.open(engine);
    const nodes = [3, 1, 2].map((now) => roleNode(test.acme, { id: newId('role', now), name: String(now) }));
    await inTurn(nodes, (node) => test.add('role', node));
    const selection = { type: 'role', anchor: test.acme, limit: 2 } as const;
    expect(names(await allPages(test.graph, selection))).toEqual(['1', '2', '3']);
    expect(names(await allPages(test.graph, { ...selection, descending: true }))).toEqual(['3', '2', '1']);
  });

  it('puts nodes without a value last, by id, in both directions', async () => {
    await using test = await TestGraph.open(engine);
    const nodes = ['b', null, 'a', null, null, 'c'].map((name, now) =>
      toolNode(test.acme, { id: newId('tool', now), originalName: String(now), name }),
    );
    await inTurn(nodes, (node) => test.add('tool', node));
    const numbers = async (limit: number, descending: boolean) =>
      (await allPages(test.graph, { type: 'tool', anchor: test.acme, orderBy: 'name', limit, descending }))
        .map(({ originalName }) => originalName)
        .join('');
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      expect(await numbers(limit, false)).toBe('205134');
      expect(await numbers(limit, true)).toBe('502431');
    }
  });

  it('ends with null, also if the last page is full', async () => {
    await using test = await TestGraph.open(engine);
    const selection = { type: 'role', anchor: test.acme, limit: 2 } as const;
    expect(await test.graph.select(selection)).toEqual({ nodes: [], next: null });
    await test.addRoles(test.acme, ['a', 'b']);
    const page = await test.graph.select(selection);
    expect(page).toMatchObject({ nodes: { length: 2 }, next: null });
  });

  it('shows every remaining node exactly once, whatever is added, changed and removed between pages', async () => {
    await using test = await TestGraph.open(engine);
    const stay = Array.from({ length: 20 }, (_, i) => `stay ${String(i).padStart(2, '0')}`);
    await test.addRoles(test.acme, stay);
    const seen: (string | null)[] = [];
    for (let after: Cursor | null | undefined, i = 0; after !== null; i++) {
      const page = await test.graph.select({
        type: 'role',
        anchor: test.acme,
        orderBy: 'name',
        limit: 3,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(...names(page.nodes));
      after = page.next;
      const last = page.nodes.at(-1) ?? expect.fail();
      await test.graph.write(async (transaction) => {
        // Before, just before, just after and far after the end of the page, and the last node itself.
        for (const name of [`a ${i}`, `${last.name.slice(0, -1)} `, `${last.name} `, `z ${i}`]) {
          await transaction.create('role', roleNode(test.acme, { name: `${name}added ${i}` }));
        }
        await transaction.remove('role', last.id, test.acme);
      });
      if (i > 50) expect.fail('the pages do not end');
    }
    expect(seen.filter((name) => name?.startsWith('stay') && !name.includes('added'))).toEqual(stay);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('refuses a cursor of another type, order or direction', async () => {
    await using test = await TestGraph.open(engine);
    await test.addRoles(test.acme, ['a', 'b', 'c']);
    const byName = { type: 'role', anchor: test.acme, orderBy: 'name', limit: 1 } as const;
    const cursor = (await test.graph.select(byName)).next ?? expect.fail();
    expect(names((await test.graph.select({ ...byName, after: cursor })).nodes)).toEqual(['b']);
    const malformed = ['', 'x', '🙂', cursor.slice(1), cursor.slice(0, -4), `${cursor}A`, 'bnVsbA', 'W10', 'e30'];
    for (const after of malformed) {
      await expectRefusal(test.graph.select({ ...byName, after: wrong<Cursor>(after) }), 'invalid_input');
    }
    const after = cursor;
    await expectRefusal(test.graph.select({ ...byName, descending: true, after }), 'invalid_input');
    await expectRefusal(test.graph.select({ ...byName, orderBy: 'createdAt', after }), 'invalid_input');
    await expectRefusal(test.graph.select({ type: 'role', anchor: test.acme, limit: 1, after }), 'invalid_input');
    await expectRefusal(test.graph.select({ ...byName, type: 'skill', after }), 'invalid_input');
  });

  it('refuses invalid limits', async () => {
    await using test = await TestGraph.open(engine);
    for (const limit of [0, -1, 1.5, pageMax + 1, Number.NaN, Number.POSITIVE_INFINITY, wrong<number>('2')]) {
      await expectRefusal(test.graph.select({ type: 'role', anchor: test.acme, limit }), 'invalid_input', /limit/);
    }
  });

  it('returns pages of the largest size', async () => {
    await using test = await TestGraph.open(engine);
    await test.graph.write((transaction) =>
      inTurn([...Array(pageMax + 1).keys()], (i) => transaction.create('setting', settingNode(`${i}`))),
    );
    const page = await test.graph.select({ type: 'setting', anchor: null, limit: pageMax });
    expect(page.nodes).toHaveLength(pageMax);
    expect(page.next).not.toBeNull();
  });

  it('refuses an order by a field without an index', async () => {
    await using test = await TestGraph.open(engine);
    for (const orderBy of ['description', 'nme', 'workspace', 'version', 'constructor']) {
      const selection = { type: 'role', anchor: test.acme, limit: 1, orderBy: wrong<'name'>(orderBy) } as const;
      await expectRefusal(test.graph.select(selection), 'invalid_input', new RegExp(`"${orderBy}"`));
    }
  });
}
