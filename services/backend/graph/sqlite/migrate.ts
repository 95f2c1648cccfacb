import { SvcError } from '../../../contracts/errors.ts';
import { wordsOf } from '../search-words.ts';
import type { Connection } from './connection.ts';
import { quoted } from './sql.ts';
import { isTaken } from './sqlite-errors.ts';
import { type Reindex, type StorageItem, wordTable } from './storage.ts';

export interface Migration {
  /** Counts from 1; the file keeps them all. */
  readonly number: number;
  readonly added: readonly string[];
}

/**
 * Adds what the file lacks of the schema, and records a migration, in the caller's transaction. Values are never removed or changed, so an
 * older version can come back. Indexes and words that the schema no longer needs are removed.
 */
export function migrate(connection: Connection, items: readonly StorageItem[]): Migration | null {
  connection.exec(
    `create table if not exists migration (number integer primary key, at integer not null, added text not null) strict`,
  );
  connection.exec('create table if not exists storage (name text primary key, definition text not null) strict');
  const present = new Map(connection.rows('select name, definition from storage', []).map(([name, is]) => [name, is]));
  removeLeft(connection, new Set(items.map(({ name }) => name)));
  const missing = items.filter(({ name, definition }) => present.get(name) !== definition);
  if (missing.length === 0) return null;
  for (const item of missing) {
    const is = present.get(item.name);
    if (is !== undefined && item.reindex === undefined) {
      throw new SvcError(
        'unsupported',
        `"${item.name}" is "${is}" in "${connection.file}" and "${item.definition}" in this version: storage is added to, never changed.`,
        { hint: 'Use the version of the platform that wrote this file, or a newer one.' },
      );
    }
    add(connection, item);
  }
  const [last] = connection.row('select coalesce(max(number), 0) from migration', []) ?? [];
  const migration = { number: Number(last) + 1, added: missing.map(({ name }) => name) };
  connection.run('insert into migration (number, at, added) values (?, ?, ?)', [
    migration.number,
    Date.now(),
    JSON.stringify(migration.added),
  ]);
  return migration;
}

/** Indexes and words that this version's tables no longer need. */
function removeLeft(connection: Connection, named: ReadonlySet<string>): void {
  const remove = (kind: 'index' | 'table', name: string) => {
    connection.exec(`drop ${kind} if exists ${quoted(name)}`);
    connection.run('delete from storage where name = ?', [`${kind} ${name}`]);
  };
  for (const table of [...named].flatMap((name) => /^table (.+)/.exec(name)?.[1] ?? [])) {
    const sql = `select name from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null`;
    for (const [index] of connection.rows(sql, [table])) {
      if (!named.has(`index ${index}`)) remove('index', String(index));
    }
    if (named.has(`words ${table}`)) continue;
    remove('index', `${wordTable(table)}_of`);
    remove('table', wordTable(table));
    connection.run('delete from storage where name = ?', [`words ${table}`]);
  }
}

function add(connection: Connection, { name, definition, sql, reindex }: StorageItem): void {
  try {
    if (sql !== '') connection.exec(sql);
  } catch (thrown) {
    if (!isTaken(thrown)) throw thrown;
    throw new SvcError('conflict', `"${name}" cannot be added: nodes are there with the same ${definition}.`, {
      cause: thrown,
    });
  }
  if (reindex !== undefined) makeWords(connection, reindex);
  connection.run('insert or replace into storage (name, definition) values (?, ?)', [name, definition]);
}

function makeWords(connection: Connection, { type, owned, fields }: Reindex): void {
  const table = quoted(wordTable(type));
  connection.exec(`delete from ${table}`);
  const columns = ['id', owned ? 'workspace' : "''", ...fields.map(quoted)].join(', ');
  const insert = `insert into ${table} (workspace, word, id) values (?, ?, ?)`;
  // Pages of ids keep a large table out of memory.
  const page = `select ${columns} from ${quoted(type)} where id > ? order by id limit 1000`;
  for (let after = ''; ; ) {
    const rows = connection.rows(page, [after]);
    for (const [id = null, workspace = null, ...texts] of rows) {
      for (const word of wordsOf(texts.map((text) => (text === null ? null : String(text))))) {
        connection.run(insert, [workspace, word, id]);
      }
    }
    if (rows.length === 0) return;
    after = String(rows.at(-1)?.[0]);
  }
}
