import { describe, expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { formatCursor } from '../cursor.ts';
import type { Condition, Selection } from '../graph.ts';
import { checkUnique, fieldKind, typeNamed } from '../node-rules.ts';
import { schema, type TypeName } from '../schema.ts';
import { checkSelection } from '../selection-rules.ts';
import { Connection } from './connection.ts';
import { migrate } from './migrate.ts';
import { findByPlan, findPlan, followPlan, type RowsPlan } from './read-plan.ts';
import { countPlan, selectPlan } from './select-plan.ts';
import type { Sql } from './sql.ts';
import { storageItems } from './storage.ts';

/** For any content: no page reads a whole table, and a page in the order of an index needs no sorting. */
const connection = new Connection({ file: ':memory:', readOnly: false });
migrate(connection, storageItems());

const workspace = newId('workspace');
const types = Object.keys(schema).filter((name): name is TypeName => name in schema);

describe.each(types)('%s', (type) => {
  const { owned, index, search, unique, uniqueEverywhere = [] } = typeNamed(type);
  const anchors = owned ? [workspace, 'everywhere'] : [null];

  it('is found by indexes alone', () => {
    for (const anchor of anchors) {
      expectSteps(findPlan(type, 'x', anchor === 'everywhere' ? null : anchor), { sorted: true });
    }
    const find = (fields: readonly string[], anchor: string | null) => {
      const values = Object.fromEntries(fields.map((field) => [field, someValue(type, field)]));
      expectSteps(findByPlan(type, checkUnique(type, values, anchor)), { sorted: true });
    };
    for (const fields of unique) find(fields, owned ? workspace : null);
    for (const fields of uniqueEverywhere) {
      for (const anchor of anchors) find(fields, anchor);
    }
  });

  it.each(anchors)('is paged by indexes alone (%s)', (anchor) => {
    // Over all workspaces, nodes are ordered by id only.
    for (const orderBy of [undefined, ...(anchor === 'everywhere' ? [] : index)]) {
      for (const descending of [false, true]) {
        const first = selection({ type, anchor, orderBy, descending });
        expectSteps(selectPlan(checkSelection(first)), { sorted: true });
        const order = { type, orderBy: orderBy ?? 'id', descending };
        const value = orderBy === undefined ? null : someValue(type, orderBy);
        const after = formatCursor(order, { value, id: 'x' });
        expectSteps(selectPlan(checkSelection({ ...first, after })), { sorted: true });
      }
    }
  });

  it.each(anchors)('is filtered by indexes alone (%s)', (anchor) => {
    for (const field of index) {
      const value = someValue(type, field);
      const equals = selection({ type, anchor, where: [{ field, equals: value }] });
      expectSteps(selectPlan(checkSelection(equals)), { sorted: true });
      expectSteps(countPlan(checkSelection(equals)), { sorted: true });
      const many = selection({ type, anchor, where: [{ field, in: [value, value] }] });
      expectSteps(selectPlan(checkSelection(many)), { sorted: false });
      const some = typeof value === 'string' ? { field, prefix: value } : { field, from: value, below: value };
      if (anchor === 'everywhere') continue;
      const range = selection({ type, anchor, where: [some], orderBy: field });
      expectSteps(selectPlan(checkSelection(range)), { sorted: true });
    }
  });

  it.each(search.length === 0 ? [] : anchors)('is searched by indexes alone (%s)', (anchor) => {
    const plan = selectPlan(
      checkSelection(
        selection({ type, anchor, search: 'one two', orderBy: anchor === 'everywhere' ? undefined : index[0] }),
      ),
    );
    expectSteps(plan, { sorted: true });
    expect(plan.shortcuts).toHaveLength(anchor === 'everywhere' ? 0 : 2);
    for (const { probe, steps } of plan.shortcuts) {
      for (const step of [probe, ...steps]) expectIndexed(step, { sorted: false });
    }
  });

  it('is followed in both directions by indexes alone', () => {
    for (const [edge, target] of Object.entries(typeNamed(type).edges)) {
      for (const back of [false, true]) {
        for (const anchor of owned ? [workspace, null] : [null]) {
          const bounds = { limitEach: 1, textMax: 1000 };
          const plan = followPlan({ from: type, edge, target, back, workspace: anchor, ids: ['x'], ...bounds });
          expectIndexed({ sql: plan.ends.sql, values: [...plan.ends.values, 'x'] }, { sorted: true });
          expectIndexed({ sql: `${plan.node} limit ?`, values: ['x'] }, { sorted: true });
        }
      }
    }
  });
});

function expectSteps(plan: RowsPlan, expected: { readonly sorted: boolean }): void {
  expect(plan.steps.length).toBeGreaterThan(0);
  for (const step of plan.steps) expectIndexed(step, expected);
}

function expectIndexed({ sql, values }: Sql, { sorted }: { readonly sorted: boolean }): void {
  const plan = connection.rows(`explain query plan ${sql}`, [...values, 1]).map((row) => String(row[3]));
  const scans = plan.filter((line) => /^SCAN/.test(line) && !/USING|json_each|SCAN (c|\(subquery)/.test(line));
  expect(scans, `${sql}\n${plan.join('\n')}`).toEqual([]);
  if (sorted)
    expect(
      plan.filter((line) => /TEMP B-TREE/.test(line)),
      `${sql}\n${plan.join('\n')}`,
    ).toEqual([]);
}

interface Loose {
  readonly type: TypeName;
  readonly anchor: string | null;
  readonly orderBy?: string | undefined;
  readonly descending?: boolean;
  readonly search?: string;
  readonly where?: readonly object[];
}

/** A selection of any type, composed from names. `checkSelection` ensures that it is valid. */
function selection({ orderBy, where = [], ...rest }: Loose): Selection<'role'> {
  const order = orderBy === undefined ? {} : { orderBy };
  const conditions = where as readonly Condition<'role'>[];
  return { limit: 10, ...rest, ...order, where: conditions } as Selection<'role'>;
}

function someValue(type: TypeName, field: string): string | number {
  return fieldKind(type, field).startsWith('text') ? 'x' : 1;
}
