import { typeNamed, type Value, type Values } from '../node-rules.ts';
import { takenBy } from '../refusals.ts';
import { schema } from '../schema.ts';
import { wordsOf } from '../search-words.ts';
import type { Connection, Row, SqlValue } from './connection.ts';
import { columnsOf, edgeName, findPlan } from './read-plan.ts';
import { runRows } from './run-plan.ts';
import { quoted, sqlValue } from './sql.ts';
import { isTaken } from './sqlite-errors.ts';
import { edgeTable, wordTable } from './storage.ts';

export type Columns = Readonly<Record<string, SqlValue>>;

export interface NewRow {
  readonly id: string;
  readonly workspace: string | null;
  readonly values: Values;
  /** The version of an imported node. Default: 1. */
  readonly version?: number;
}

/** Writes return rows as the file stores them. */
export function insertNode(connection: Connection, type: string, { id, workspace, values, version = 1 }: NewRow): Row {
  const columns: Columns = { id, version, ...(workspace === null ? {} : { workspace }), ...inSql(values) };
  const names = Object.keys(columns);
  const sql = `insert into ${quoted(type)} (${names.map(quoted).join(', ')})
    values (${names.map(() => '?').join(', ')}) returning ${returned(type)}`;
  const row = written(connection, { type, sql, values: Object.values(columns), columns });
  addWords(connection, type, columns, wordsIn(type, columns));
  return row;
}

interface NodeChange {
  readonly values: Values;
  readonly keepsVersion: boolean;
}

export function changeNode(connection: Connection, type: string, before: Columns, change: NodeChange): Row {
  const { values: changes, keepsVersion } = change;
  const changed = Object.entries(inSql(changes)).filter(([name, value]) => before[name] !== value);
  const after: Columns = { ...before, ...Object.fromEntries(changed) };
  const sets = changed.map(([name]) => `${quoted(name)} = ?, `).join('');
  const sql = `update ${quoted(type)} set ${sets}version = version + ${keepsVersion ? 0 : 1} where id = ? returning ${returned(type)}`;
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

export function findColumns(
  connection: Connection,
  type: string,
  id: string,
  workspace: string | null,
): Columns | null {
  const [row] = runRows(connection, findPlan(type, id, workspace));
  return row === undefined
    ? null
    : Object.fromEntries(columnsOf(type).map((column, index) => [column, row[index] ?? null]));
}

export function removeNode(connection: Connection, type: string, id: string): void {
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
  /** The new row. */
  readonly columns: Columns;
}

function written(connection: Connection, { type, sql, values, columns }: Writing): Row {
  try {
    const row = connection.row(sql, values);
    if (row === null) throw new Error(`Nothing was written to "${type}".`);
    return row;
  } catch (thrown) {
    if (!isTaken(thrown)) throw thrown;
    throw takenBy(type, takenFields(connection, type, columns), { cause: thrown });
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
  // If no other node has these values, the id is taken.
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

function inSql(values: Values): Columns {
  return Object.fromEntries(Object.entries(values).map(([name, value]: [string, Value]) => [name, sqlValue(value)]));
}

function returned(type: string): string {
  return columnsOf(type).map(quoted).join(', ');
}
