import { SvcError } from '../../../contracts/errors.ts';
import type { Transaction } from '../graph.ts';
import {
  checkAnchor,
  checkChanges,
  checkEdge,
  checkIds,
  checkNode,
  typeNamed,
  type Value,
  type Values,
} from '../node-rules.ts';
import { schema } from '../schema.ts';
import { wordsOf } from '../search-words.ts';
import type { Connection, Row, SqlValue } from './connection.ts';
import { columnsOf, edgeName, findPlan } from './read-plan.ts';
import { readsOn } from './reads.ts';
import { nodesOf } from './rows.ts';
import { runFollow, runRows } from './run-plan.ts';
import { quoted, sqlValue } from './sql.ts';
import { isTaken } from './sqlite-errors.ts';
import { edgeTable, wordTable } from './storage.ts';

export interface OpenTransaction {
  readonly transaction: Transaction;
  /** Whatever still holds the transaction can do nothing with it from now on. */
  end(): void;
}

/** The reads and writes of a transaction that `connection` has begun. Each write happens whole or not at all, so a refused one may be caught. */
export function openTransaction(connection: Connection): OpenTransaction {
  let open = true;
  const mustBeOpen = () => {
    if (!open) throw new SvcError('internal', 'A transaction was used after its end.');
    return connection;
  };
  const reads = readsOn({
    point: async (plan) => runRows(mustBeOpen(), plan),
    rows: async (plan) => runRows(mustBeOpen(), plan),
    follow: async (plan) => runFollow(mustBeOpen(), plan),
  });
  return {
    end() {
      open = false;
    },
    transaction: {
      ...reads,

      async create(type, node) {
        const values = checkNode(type, node);
        const workspace = 'workspace' in node ? String(node.workspace) : null;
        return oneOf(nodesOf<typeof type>(type, [insert(mustBeOpen(), type, { id: node.id, workspace, values })]));
      },

      async update(type, id, changes, { anchor, ifVersion }) {
        const checked = checkChanges(type, changes);
        const before = rowOf(mustBeOpen(), type, id, checkAnchor(type, anchor));
        if (before === null) throw notThere(type, id);
        if (ifVersion !== undefined && ifVersion !== before.version) {
          throw new SvcError(
            'conflict',
            `The ${type} "${id}" is at version ${before.version}, not ${ifVersion}: it was changed meanwhile.`,
            { hint: 'Read it again, then repeat the change.' },
          );
        }
        return oneOf(nodesOf<typeof type>(type, [change(mustBeOpen(), type, before, checked)]));
      },

      async remove(type, id, anchor) {
        const before = rowOf(mustBeOpen(), type, id, checkAnchor(type, anchor));
        if (before !== null) removeNode(connection, type, id);
      },

      async link({ from, edge }, source, targets) {
        const target = checkEdge(from, edge);
        checkIds(targets);
        const home = rowOf(mustBeOpen(), from, source, null);
        if (home === null) throw notThere(from, source);
        const bothOwned = typeNamed(from).owned && typeNamed(target).owned;
        for (const id of targets) {
          const workspace = bothOwned ? String(home.workspace) : null;
          if (rowOf(connection, target, id, workspace) === null) throw notThere(target, id);
        }
        for (const id of targets) {
          connection.run(`insert or ignore into ${edgeTable} (name, source, target) values (?, ?, ?)`, [
            edgeName(from, edge),
            source,
            id,
          ]);
        }
      },

      async unlink({ from, edge }, source, targets) {
        checkEdge(from, edge);
        checkIds(targets);
        for (const id of targets) {
          mustBeOpen().run(`delete from ${edgeTable} where name = ? and source = ? and target = ?`, [
            edgeName(from, edge),
            source,
            id,
          ]);
        }
      },
    },
  };
}

type Columns = Readonly<Record<string, SqlValue>>;

interface NewRow {
  readonly id: string;
  readonly workspace: string | null;
  readonly values: Values;
}

function insert(connection: Connection, type: string, { id, workspace, values }: NewRow): Row {
  const columns: Columns = { id, ...(workspace === null ? {} : { workspace }), ...inSql(values) };
  const names = Object.keys(columns);
  const sql = `insert into ${quoted(type)} (${names.map(quoted).join(', ')})
    values (${names.map(() => '?').join(', ')}) returning ${returned(type)}`;
  const row = written(connection, { type, sql, values: Object.values(columns), columns });
  addWords(connection, type, columns, wordsIn(type, columns));
  return row;
}

function change(connection: Connection, type: string, before: Columns, changes: Values): Row {
  const changed = Object.entries(inSql(changes)).filter(([name, value]) => before[name] !== value);
  const after: Columns = { ...before, ...Object.fromEntries(changed) };
  const sets = changed.map(([name]) => `${quoted(name)} = ?, `).join('');
  const sql = `update ${quoted(type)} set ${sets}version = version + 1 where id = ? returning ${returned(type)}`;
  const id = before.id ?? null;
  const row = written(connection, { type, sql, values: [...changed.map(([, value]) => value), id], columns: after });
  if (changed.some(([name]) => typeNamed(type).search.includes(name))) {
    const words = { before: wordsIn(type, before), after: wordsIn(type, after) };
    for (const word of except(words.before, words.after)) {
      connection.run(`delete from ${quoted(wordTable(type))} where id = ? and word = ?`, [id, word]);
    }
    addWords(connection, type, after, except(words.after, words.before));
  }
  return row;
}

function removeNode(connection: Connection, type: string, id: string): void {
  connection.run(`delete from ${quoted(type)} where id = ?`, [id]);
  if (typeNamed(type).search.length > 0) connection.run(`delete from ${quoted(wordTable(type))} where id = ?`, [id]);
  for (const [from, { edges }] of Object.entries(schema)) {
    for (const [edge, target] of Object.entries(edges)) {
      const name = edgeName(from, edge);
      if (from === type) connection.run(`delete from ${edgeTable} where name = ? and source = ?`, [name, id]);
      if (target === type) connection.run(`delete from ${edgeTable} where name = ? and target = ?`, [name, id]);
    }
  }
}

interface Writing {
  readonly type: string;
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** The row as it is to be. */
  readonly columns: Columns;
}

function written(connection: Connection, { type, sql, values, columns }: Writing): Row {
  try {
    const row = connection.row(sql, values);
    if (row === null) throw new Error(`Nothing was written to "${type}".`);
    return row;
  } catch (thrown) {
    if (!isTaken(thrown)) throw thrown;
    const fields = takenFields(connection, type, columns).map((field) => `"${field}"`);
    throw new SvcError('conflict', `There is a ${type} with the same ${fields.join(' and ')} already.`, {
      cause: thrown,
    });
  }
}

function takenFields(connection: Connection, type: string, columns: Columns): readonly string[] {
  const { owned, unique, uniqueEverywhere = [] } = typeNamed(type);
  const id = columns.id ?? null;
  const isShared = (fields: readonly string[]) => {
    const where = fields.map((field) => `${quoted(field)} = ?`).join(' and ');
    const values = fields.map((field) => columns[field] ?? null);
    return connection.row(`select 1 from ${quoted(type)} where ${where} and id <> ?`, [...values, id]) !== null;
  };
  const inWorkspace = owned ? ['workspace'] : [];
  // Where no other node has these values, it is the id itself that is taken.
  return unique.find((fields) => isShared([...inWorkspace, ...fields])) ?? uniqueEverywhere.find(isShared) ?? ['id'];
}

function addWords(connection: Connection, type: string, columns: Columns, words: Iterable<string>): void {
  const { id = null, workspace = '' } = columns;
  for (const word of words) {
    connection.run(`insert into ${quoted(wordTable(type))} (workspace, word, id) values (?, ?, ?)`, [
      workspace,
      word,
      id,
    ]);
  }
}

function except(words: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...words].filter((word) => !others.has(word));
}

function wordsIn(type: string, columns: Columns): ReadonlySet<string> {
  return wordsOf(typeNamed(type).search.map((field) => String(columns[field] ?? '')));
}

function rowOf(connection: Connection, type: string, id: string, workspace: string | null): Columns | null {
  const [row] = runRows(connection, findPlan(type, id, workspace));
  return row === undefined
    ? null
    : Object.fromEntries(columnsOf(type).map((column, index) => [column, row[index] ?? null]));
}

function inSql(values: Values): Columns {
  return Object.fromEntries(Object.entries(values).map(([name, value]: [string, Value]) => [name, sqlValue(value)]));
}

function returned(type: string): string {
  return columnsOf(type).map(quoted).join(', ');
}

function oneOf<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('A row was expected.');
  return item;
}

function notThere(type: string, id: string): SvcError {
  return new SvcError('not_found', `The ${type} "${id}" is not there.`);
}
