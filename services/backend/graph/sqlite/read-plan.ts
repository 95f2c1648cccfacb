import type { UniqueKey, Value } from '../node-rules.ts';
import { typeNamed } from '../node-rules.ts';
import type { CheckedCondition, CheckedSelection } from '../selection-rules.ts';
import type { SqlValue } from './connection.ts';
import { edgeTable, quoted, wordTable } from './storage.ts';

/** A read, said in SQL before it is sent to where it runs: whoever runs it knows nothing of the schema. */
export interface RowsPlan {
  /** One after the other until `limit` rows are there; each statement's last parameter is how many are still wanted. */
  readonly steps: readonly Step[];
  readonly limit: number;
  /** The first one with few enough candidates is run instead of `steps`. */
  readonly shortcuts: readonly Shortcut[];
}

export interface Step {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** `probe` counts candidates up to `candidatesMax` + 1: where there are no more, `steps` begin with them. */
export interface Shortcut {
  readonly probe: Step;
  readonly candidatesMax: number;
  readonly steps: readonly Step[];
}

export interface FollowPlan {
  /** From (an id, a limit) to the ids at the other ends. */
  readonly ends: Step;
  /** From an id to its node. */
  readonly node: string;
  readonly ids: readonly string[];
  readonly limitEach: number;
}

/** Up to here it is cheaper to sort what a word finds than to walk an index and look for the word in each node. */
const candidatesMax = 1000;

export function columnsOf(type: string): readonly string[] {
  const { owned, fields } = typeNamed(type);
  return ['id', 'version', ...(owned ? ['workspace'] : []), ...Object.keys(fields)];
}

export function findPlan(type: string, id: string, workspace: string | null): RowsPlan {
  const where = all([equal('id', id), ...(workspace === null ? [] : [equal('workspace', workspace)])]);
  return single(`select ${columnList(type)} from ${quoted(type)} n where ${where.sql} limit ?`, where.values);
}

export function findByPlan(type: string, key: UniqueKey): RowsPlan {
  const where = all([
    ...(key.workspace === null ? [] : [equal('workspace', key.workspace)]),
    ...key.fields.map((field, index) => equal(field, sqlValue(key.values[index] ?? null))),
  ]);
  return single(`select ${columnList(type)} from ${quoted(type)} n where ${where.sql} limit ?`, where.values);
}

/** One row more than a page has, which tells whether there is another. */
export function selectPlan(selection: CheckedSelection): RowsPlan {
  const steps = (words: Words) =>
    phases(selection).map((phase): Step => {
      const where = all([...conditions(selection), ...words.conditions, ...phase.conditions]);
      return {
        sql: `select ${columnList(selection.type)} from ${words.from} where ${where.sql} order by ${phase.order} limit ?`,
        values: where.values,
      };
    });
  return planned(selection, selection.limit + 1, steps);
}

export function countPlan(selection: CheckedSelection): RowsPlan {
  return planned(selection, 1, (words) => {
    const where = all([...conditions(selection), ...words.conditions]);
    return [{ sql: `select count(*) from ${words.from} where ${where.sql} limit ?`, values: where.values }];
  });
}

export interface Following {
  readonly from: string;
  readonly edge: string;
  readonly target: string;
  readonly back: boolean;
  readonly workspace: string | null;
  readonly ids: readonly string[];
  readonly limitEach: number;
}

/** An edge never leaves a workspace, so the node it starts from says where both ends are. */
export function followPlan({ from, edge, target, back, workspace, ids, limitEach }: Following): FollowPlan {
  const [near, far] = back ? ['target', 'source'] : ['source', 'target'];
  const join = workspace === null ? '' : `join ${quoted(from)} s on s.id = e.source and s.workspace = ?`;
  const found = back ? from : target;
  return {
    ends: {
      sql: `select e.${far} from ${edgeTable} e ${join} where e.name = ? and e.${near} = ? order by e.${far} limit ?`,
      values: [...(workspace === null ? [] : [workspace]), edgeName(from, edge)],
    },
    node: `select ${columnList(found)} from ${quoted(found)} n where n.id = ?`,
    ids: [...new Set(ids)],
    limitEach,
  };
}

export function edgeName(from: string, edge: string): string {
  return `${from}.${edge}`;
}

export function sqlValue(value: Value): SqlValue {
  return typeof value === 'boolean' ? Number(value) : value;
}

interface Fragment {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

interface Words {
  readonly from: string;
  readonly conditions: readonly Fragment[];
}

function single(sql: string, values: readonly SqlValue[]): RowsPlan {
  return { steps: [{ sql, values }], limit: 1, shortcuts: [] };
}

function planned(selection: CheckedSelection, limit: number, steps: (words: Words) => Step[]): RowsPlan {
  const { type, words, workspace } = selection;
  const table = quoted(type);
  const fromNodes = { from: `${table} n`, conditions: words.map((word) => hasWord(type, word)) };
  // The words of owned nodes are kept by workspace: without one there is no place to begin at.
  if (typeNamed(type).owned && workspace === null) return { steps: steps(fromNodes), limit, shortcuts: [] };
  // Long beginnings first: they are likely to be the rare ones.
  const byLength = [...words].sort((one, other) => other.length - one.length);
  return {
    steps: steps(fromNodes),
    limit,
    shortcuts: byLength.map((word) => {
      const begins = all([{ sql: 'w.workspace = ?', values: [workspace ?? ''] }, ...prefixOf('w.word', word)]);
      const found = `select w.id from ${quoted(wordTable(type))} w where ${begins.sql}`;
      return {
        probe: { sql: `select count(*) from (${found} limit ${candidatesMax + 1}) limit ?`, values: begins.values },
        candidatesMax,
        steps: steps({
          // A cross join keeps its order: candidates first.
          from: `(select distinct id from (${found})) c cross join ${table} n on n.id = c.id`,
          conditions: words.filter((other) => other !== word).map((other) => hasWord(type, other)),
        }).map((step) => ({ sql: step.sql, values: [...begins.values, ...step.values] })),
      };
    }),
  };
}

interface Phase {
  readonly conditions: readonly Fragment[];
  readonly order: string;
}

/** Nodes in order; those without a value after those with one. */
function phases({ orderBy, nullable, descending, after }: CheckedSelection): Phase[] {
  const [beyond, direction] = descending ? ['<', 'desc'] : ['>', 'asc'];
  const beyondId = after === null ? [] : [{ sql: `n.id ${beyond} ?`, values: [after.id] }];
  const byId = `n.id ${direction}`;
  if (orderBy === 'id') return [{ conditions: beyondId, order: byId }];
  const column = `n.${quoted(orderBy)}`;
  const withValue = {
    conditions: [
      ...(nullable ? [{ sql: `${column} is not null`, values: [] }] : []),
      ...(after === null
        ? []
        : [{ sql: `(${column}, n.id) ${beyond} (?, ?)`, values: [sqlValue(after.value), after.id] }]),
    ],
    order: `${column} ${direction}, ${byId}`,
  };
  if (!nullable) return [withValue];
  const noValue = { sql: `${column} is null`, values: [] };
  if (after === null) return [withValue, { conditions: [noValue], order: byId }];
  if (after.value === null) return [{ conditions: [noValue, ...beyondId], order: byId }];
  return [withValue, { conditions: [noValue], order: byId }];
}

function conditions(selection: CheckedSelection): Fragment[] {
  const anchor = selection.workspace === null ? [] : [equal('workspace', selection.workspace)];
  return [...anchor, ...selection.conditions.flatMap(condition)];
}

function condition(asked: CheckedCondition): Fragment[] {
  const column = `n.${quoted(asked.field)}`;
  switch (asked.kind) {
    case 'in':
      if (asked.values.length === 1) return [equal(asked.field, sqlValue(asked.values[0] ?? null))];
      return [
        {
          sql: `${column} in (select value from json_each(?))`,
          values: [JSON.stringify(asked.values.map(sqlValue))],
        },
      ];
    case 'prefix':
      return prefixOf(column, asked.prefix);
    case 'range':
      return [
        ...(asked.from === null ? [] : [{ sql: `${column} >= ?`, values: [asked.from] }]),
        ...(asked.below === null ? [] : [{ sql: `${column} < ?`, values: [asked.below] }]),
      ];
  }
}

function hasWord(type: string, word: string): Fragment {
  const begins = all(prefixOf('w.word', word));
  return {
    sql: `exists (select 1 from ${quoted(wordTable(type))} w where w.id = n.id and ${begins.sql})`,
    values: begins.values,
  };
}

function prefixOf(column: string, prefix: string): Fragment[] {
  const end = endOfPrefix(prefix);
  return [
    { sql: `${column} >= ?`, values: [prefix] },
    ...(end === null ? [] : [{ sql: `${column} < ?`, values: [end] }]),
  ];
}

/** The first text after all that begin with `prefix`; null where there is none. Byte order of UTF-8 is the order of code points. */
export function endOfPrefix(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    // Surrogates are no characters: the one after U+D7FF is U+E000.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

function equal(field: string, value: SqlValue): Fragment {
  return { sql: `n.${quoted(field)} = ?`, values: [value] };
}

function all(fragments: readonly Fragment[]): Fragment {
  return {
    sql: fragments.map((fragment) => fragment.sql).join(' and ') || 'true',
    values: fragments.flatMap((fragment) => fragment.values),
  };
}

function columnList(type: string): string {
  return columnsOf(type)
    .map((column) => `n.${quoted(column)}`)
    .join(', ');
}
