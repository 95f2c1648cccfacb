import { closeSync, fsyncSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { SvcError } from '../../../contracts/errors.ts';
import { giveWay } from '../../../kit/give-way.ts';
import type { EdgeRecord, GraphContent } from '../content.ts';
import type { NodeRecord } from '../node-record.ts';
import { typeNamed, type Value } from '../node-rules.ts';
import type { FieldKind } from '../schema.ts';
import { Connection, type Row, type SqlValue } from './connection.ts';
import { migrate } from './migrate.ts';
import { insertNode } from './node-writes.ts';
import { columnsOf, edgeName } from './read-plan.ts';
import { quoted } from './sql.ts';
import { toGraphError } from './sqlite-errors.ts';
import { edgeTable, storageItems, wordTable } from './storage.ts';

/** Rows of one read, or of one transaction of writes. */
const rowsAtOnce = 2000;

/** Copies everything committed, even while a backend writes. The copy is durable when the promise resolves. */
export async function copyGraph(file: string, target: string): Promise<void> {
  closeSync(openSync(target, 'a', 0o600));
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    await backup(database, target);
  } catch (thrown) {
    throw toGraphError(thrown, file);
  }
  const copy = openSync(target, 'r+');
  try {
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

export interface SqliteContentOptions {
  readonly file: string;
  /** True: reads the snapshot of the moment of opening, even while a backend writes. False: no other process may have the file open, and a missing file is created. */
  readonly readOnly: boolean;
}

export function openSqliteContent({ file, readOnly }: SqliteContentOptions): GraphContent {
  if (!readOnly) closeSync(openSync(file, 'a', 0o600));
  const connection = new Connection({ file, readOnly });
  try {
    if (readOnly) connection.exec('begin');
    else makeStorage(connection);
    refuseNewer(connection);
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
  const columnsIn = (type: string) => {
    const present = new Set(connection.rows('select name from pragma_table_info(?)', [type]).map(([name]) => name));
    return columnsOf(type).filter((column) => present.has(column));
  };
  return {
    async *nodes(type) {
      const columns = columnsIn(type);
      if (columns.length === 0) return;
      const sql = `select ${columns.map(quoted).join(', ')} from ${quoted(type)} where id > ? order by id limit ${rowsAtOnce}`;
      for await (const row of pages((after) => connection.rows(sql, [after[0] ?? '']), 1))
        yield recordOf(type, columns, row);
    },
    async *edges(from, edge) {
      const sql = `select source, target from ${edgeTable} where name = ? and (source, target) > (?, ?)
        order by source, target limit ${rowsAtOnce}`;
      const name = edgeName(from, edge);
      const page = ([source = '', target = '']: readonly string[]) => connection.rows(sql, [name, source, target]);
      for await (const [source, target] of pages(page, 2)) yield { source: String(source), target: String(target) };
    },
    async addNodes(nodes) {
      await inTransactions(connection, nodes, ({ type, ...node }) => void insertNode(connection, type, node));
    },
    async addEdges(from, edge, edges) {
      const sql = `insert into ${edgeTable} (name, source, target) values (?, ?, ?)`;
      const name = edgeName(from, edge);
      await inTransactions(connection, edges, ({ source, target }: EdgeRecord) => {
        connection.run(sql, [name, source, target]);
      });
    },
    // The checkpoint syncs the whole file.
    async finish() {
      if (!readOnly) connection.exec('pragma synchronous = full; pragma wal_checkpoint(truncate)');
    },
    async close() {
      connection.close();
    },
  };
}

/** Each page starts after the first columns of the last row. */
async function* pages(read: (after: readonly string[]) => Row[], columns: number): AsyncGenerator<Row> {
  for (let rows = read([]); rows.length > 0; ) {
    await giveWay();
    yield* rows;
    const after = (rows.at(-1) ?? []).slice(0, columns).map(String);
    rows = rows.length < rowsAtOnce ? [] : read(after);
  }
}

async function inTransactions<Item>(
  connection: Connection,
  items: AsyncIterable<Item>,
  add: (item: Item) => void,
): Promise<void> {
  let open = 0;
  for await (const item of items) {
    if (open === 0) connection.exec('begin immediate');
    add(item);
    open += 1;
    if (open === rowsAtOnce) {
      connection.exec('commit');
      open = 0;
    }
  }
  if (open > 0) connection.exec('commit');
}

/** Nothing is synced before `finish`: until then nothing counts on the file, and after a power failure it is filled again. */
function makeStorage(connection: Connection): void {
  connection.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -65536; begin immediate');
  migrate(connection, storageItems());
  connection.exec('commit');
}

/** Refuses a file of a newer version: this version would silently leave out the values that it does not know. */
function refuseNewer(connection: Connection): void {
  const names = connection.rows('select name from storage', []).map(([name]) => String(name));
  // Words of search are derived from values, so they may differ.
  const words = names.flatMap((name) => /^words (.+)/.exec(name)?.[1] ?? []).map((type) => `table ${wordTable(type)}`);
  const known = new Set([...storageItems().map(({ name }) => name), ...words]);
  const newer = names.find((name) => /^(table|column) /.test(name) && !known.has(name));
  if (newer === undefined) return;
  throw new SvcError('unsupported', `"${connection.file}" has a "${newer}", which this version does not know.`, {
    hint: 'Use the version of the platform that wrote this file, or a newer one.',
  });
}

function recordOf(type: string, columns: readonly string[], row: Row): NodeRecord {
  const { owned, fields } = typeNamed(type);
  const named = new Map(columns.map((column, index) => [column, row[index]]));
  return {
    type,
    id: String(named.get('id')),
    version: Number(named.get('version')),
    workspace: owned ? String(named.get('workspace')) : null,
    values: Object.fromEntries(
      Object.entries(fields).map(([field, kind]) => [field, fieldValue(kind, named.get(field))]),
    ),
  };
}

/** A field that the file lacks has its default. */
function fieldValue(kind: FieldKind, stored: SqlValue | undefined): Value {
  if (kind === 'boolean') return stored === 1;
  if (stored !== undefined) return stored;
  if (kind.endsWith('?')) return null;
  return kind === 'text' ? '' : 0;
}
