import type { CheckedCondition, CheckedSelection } from '../selection-rules.ts';
import { columnList, inWorkspace, type RowsPlan } from './read-plan.ts';
import { type Source, searched } from './search-plan.ts';
import { all, beginsWith, equal, quoted, type Sql, sqlValue } from './sql.ts';

/** One row more than the page: it shows whether there is a next page. */
export function selectPlan(selection: CheckedSelection): RowsPlan {
  const plan = searched(selection, selection.limit + 1, (source) =>
    phases(selection).map((phase) => {
      const where = all([...conditions(selection), ...source.conditions, ...phase.conditions]);
      return {
        sql: `select ${columnList(selection.type)} from ${source.from.sql} where ${where.sql} order by ${phase.order} limit ?`,
        values: [...source.from.values, ...where.values],
      };
    }),
  );
  return { ...plan, straight: isStraight(selection) };
}

/** In the order of an index that holds all of its conditions. */
function isStraight({ words, conditions: asked, orderBy }: CheckedSelection): boolean {
  if (words.length > 0 || asked.length > 1) return false;
  const [only] = asked;
  return only === undefined || (only.kind === 'in' && only.values.length === 1 && orderBy === 'id');
}

export function countPlan(selection: CheckedSelection): RowsPlan {
  return searched(selection, 1, (source) => [countStep(selection, source)]);
}

function countStep(selection: CheckedSelection, source: Source): Sql {
  const where = all([...conditions(selection), ...source.conditions]);
  return {
    sql: `select count(*) from ${source.from.sql} where ${where.sql} limit ?`,
    values: [...source.from.values, ...where.values],
  };
}

interface Phase {
  readonly conditions: readonly Sql[];
  readonly order: string;
}

/** Nodes in order. Nodes without a value come last, in both directions. */
function phases({ orderBy, nullable, descending, after }: CheckedSelection): Phase[] {
  const [beyond, direction] = descending ? ['<', 'desc'] : ['>', 'asc'];
  const beyondId = after === null ? [] : [{ sql: `n.id ${beyond} ?`, values: [after.id] }];
  const byId = `n.id ${direction}`;
  if (orderBy === 'id') return [{ conditions: beyondId, order: byId }];
  const column = `n.${quoted(orderBy)}`;
  const hasValue = nullable ? [{ sql: `${column} is not null`, values: [] }] : [];
  const beyondValue =
    after === null ? [] : [{ sql: `(${column}, n.id) ${beyond} (?, ?)`, values: [sqlValue(after.value), after.id] }];
  const withValue = { conditions: [...hasValue, ...beyondValue], order: `${column} ${direction}, ${byId}` };
  if (!nullable) return [withValue];
  const hasNone = { sql: `${column} is null`, values: [] };
  if (after !== null && after.value === null) return [{ conditions: [hasNone, ...beyondId], order: byId }];
  return [withValue, { conditions: [hasNone], order: byId }];
}

function conditions(selection: CheckedSelection): Sql[] {
  return [...inWorkspace(selection.workspace), ...selection.conditions.map(condition)];
}

function condition(asked: CheckedCondition): Sql {
  const column = `n.${quoted(asked.field)}`;
  switch (asked.kind) {
    case 'in': {
      const values = asked.values.map(sqlValue);
      if (values.length === 1) return equal(column, values[0] ?? null);
      return { sql: `${column} in (select value from json_each(?))`, values: [JSON.stringify(values)] };
    }
    case 'prefix':
      return beginsWith(column, asked.prefix);
    case 'range':
      return all([
        ...(asked.from === null ? [] : [{ sql: `${column} >= ?`, values: [asked.from] }]),
        ...(asked.below === null ? [] : [{ sql: `${column} < ?`, values: [asked.below] }]),
      ]);
  }
}
