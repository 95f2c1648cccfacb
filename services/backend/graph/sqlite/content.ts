import { createHash, type Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { quoted } from './sql.ts';
import { toGraphError } from './sqlite-errors.ts';
import { edgeTable } from './storage.ts';

/** How much there is of one kind, and a digest over all of it: equal where it is the same to the last byte. */
export interface KindOfContent {
  /** A node type, `edge.NAME`, or `graph`: all of it, with what is derived from it. */
  readonly kind: string;
  readonly count: number;
  readonly digest: string;
}

/** What became of one kind since a copy was made. */
export interface ChangesOfKind {
  readonly kind: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** Rows read before others get a turn. */
const rowsInOneGo = 2000;

/** Copies all that is committed, also while a backend writes to it; the copy is on the disk when this resolves. */
export async function copyGraph(file: string, target: string): Promise<void> {
  closeSync(openSync(target, 'a', 0o600));
  await reading(file, (database) => backup(database, target));
  const copy = openSync(target, 'r+');
  try {
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

/** Everything in the file, by kind, in the order of the names: `graph` first, and no kind that nothing is of. */
export async function readGraphContent(file: string): Promise<readonly KindOfContent[]> {
  return await reading(file, async (database) => {
    const whole = { hash: createHash('sha256'), count: 0 };
    const kinds: KindOfContent[] = [];
    for (const table of tablesOf(database)) {
      for (const [kind, { hash, count }] of await readTable(database, table)) {
        const digest = hash.digest('hex');
        whole.hash.update(`${kind} ${count} ${digest}\n`);
        whole.count += count;
        if (table === edgeTable || isNodeTable(database, table)) kinds.push({ kind, count, digest });
      }
    }
    return [{ kind: 'graph', count: whole.count, digest: whole.hash.digest('hex') }, ...kinds];
  });
}

/** What is there now and was not, or was otherwise, when the copy was made, and what was there then; no kind that is as it was. */
export async function changesSince(file: string, copy: string): Promise<readonly ChangesOfKind[]> {
  return await reading(file, async (database) => {
    database.prepare('attach database ? as before').run(copy);
    const before = new Set(tablesOf(database, 'before'));
    const count = (sql: string) => Number(database.prepare(`select count(*) as n from (${sql})`).get()?.n);
    return tablesOf(database)
      .filter((table) => before.has(table))
      .map((kind): ChangesOfKind => {
        const [now, then] = [`main.${quoted(kind)}`, `before.${quoted(kind)}`];
        if (kind === edgeTable) {
          const columns = 'select name, source, target from';
          const added = count(`${columns} ${now} except ${columns} ${then}`);
          return { kind, added, changed: 0, removed: count(`${columns} ${then} except ${columns} ${now}`) };
        }
        if (!isNodeTable(database, kind)) return { kind, added: 0, changed: 0, removed: 0 };
        return {
          kind,
          added: count(`select id from ${now} where id not in (select id from ${then})`),
          changed: count(`select id from ${now} as n join ${then} as t using (id) where n.version <> t.version`),
          removed: count(`select id from ${then} where id not in (select id from ${now})`),
        };
      })
      .filter(({ added, changed, removed }) => added + changed + removed > 0);
  });
}

async function readTable(
  database: DatabaseSync,
  table: string,
): Promise<ReadonlyMap<string, { hash: Hash; count: number }>> {
  const columns = columnsOf(database, table);
  // No two rows are equal in all columns, so that this is one order.
  const order = columns.map((_, i) => i + 1).join(', ');
  const statement = database.prepare(`select * from ${quoted(table)} order by ${order}`);
  statement.setReturnArrays(true);
  const kinds = new Map<string, { hash: Hash; count: number }>();
  const nameAt = table === edgeTable ? columns.indexOf('name') : -1;
  let read = 0;
  for (const row of statement.iterate()) {
    // `setReturnArrays` makes rows arrays, which the types of node:sqlite do not know.
    const values = Object.values(row);
    const kind = nameAt === -1 ? table : `${table}.${values[nameAt]}`;
    const found = kinds.get(kind) ?? { hash: createHash('sha256').update(columns.join(' ')), count: 0 };
    found.hash.update(`${JSON.stringify(values)}\n`);
    found.count++;
    kinds.set(kind, found);
    if (++read % rowsInOneGo === 0) await nextTurn();
  }
  return kinds;
}

/** In the order of their names. */
function tablesOf(database: DatabaseSync, schema: 'main' | 'before' = 'main'): readonly string[] {
  const sql = `select name from ${schema}.sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`;
  return database
    .prepare(sql)
    .all()
    .map(({ name }) => String(name));
}

function isNodeTable(database: DatabaseSync, table: string): boolean {
  const columns = columnsOf(database, table);
  return columns.includes('id') && columns.includes('version');
}

function columnsOf(database: DatabaseSync, table: string): readonly string[] {
  return database
    .prepare(`select * from ${quoted(table)} limit 0`)
    .columns()
    .map(({ name }) => name);
}

async function reading<Result>(file: string, work: (database: DatabaseSync) => Promise<Result>): Promise<Result> {
  try {
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      // What is read is of one moment, also while a backend writes.
      database.exec('begin');
      return await work(database);
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw toGraphError(thrown, file);
  }
}
