import { chmodSync, closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../contracts/errors.ts';
import type { Graph, Transaction } from '../graph.ts';
import { closedError, WriteQueue } from '../write-queue.ts';
import { Connection } from './connection.ts';
import { migrate } from './migrate.ts';
import { ReaderThread } from './reader-thread.ts';
import { readsOn } from './reads.ts';
import { followFew, runFew, runRows } from './run-plan.ts';
import { isBusy } from './sqlite-errors.ts';
import { openTransaction } from './sqlite-transaction.ts';
import { storageItems } from './storage.ts';

export interface SqliteGraphOptions {
  readonly file: string;
  readonly limits?: Partial<SqliteGraphLimits>;
}

export interface SqliteGraphLimits {
  /** Deadline of one transaction's work, which reads and writes the graph and waits for nothing else. */
  readonly workMs: number;
  /** How long another process (a backup, a shell) may hold the file. */
  readonly lockMs: number;
  /** How long a transaction may wait in the queue, and how many may wait. */
  readonly waitMs: number;
  readonly waitingMax: number;
}

const defaultLimits: SqliteGraphLimits = { workMs: 10_000, lockMs: 5000, waitMs: 30_000, waitingMax: 1000 };
const lockPauseMs = 20;
/** A read of this size takes a fraction of a millisecond. */
const few = { rows: 64, textLength: 512 * 1024 };
/** At this size a commit moves the log into the file, which takes milliseconds: 16 MiB, about a hundred commits. */
const logPages = 4096;

export async function openSqliteGraph({ file, ...options }: SqliteGraphOptions): Promise<Graph> {
  const limits = { ...defaultLimits, ...options.limits };
  createPrivately(file);
  const writer = await openWriter(file, limits);
  const reader = new Connection({ file, readOnly: true });
  const writes = new WriteQueue({ ...limits, atOnce: 1 });
  let closing: Promise<void> | null = null;
  const mustBeOpen = () => {
    if (closing !== null) throw closedError();
    return reader;
  };
  const thread = new ReaderThread(file);
  // A read of a few rows costs this thread less than a message to another thread. Longer reads go to the other thread.
  const reads = readsOn({
    point: async (plan) => runRows(mustBeOpen(), plan),
    rows: async (plan) => runFew(mustBeOpen(), plan, few) ?? (await thread.ask({ kind: 'rows', plan })),
    follow: async (plan) => followFew(mustBeOpen(), plan, few) ?? (await thread.ask({ kind: 'follow', plan })),
  });

  return {
    ...reads,

    write: (work) => writes.run(() => inTransaction(writer, limits, () => timed(writer, limits, work))),

    async ready() {
      mustBeOpen().rows('select max(number) from migration', []);
    },

    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    await writes.close();
    await thread.close();
    reader.close();
    // The last connection moves the log into the file. On a full disk the log stays, and is read when the file is opened again.
    writer.close();
  }
}

/** SQLite gives its other files the mode of this one. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new SvcError('unavailable', `The database "${file}" cannot be opened.`, {
      hint: 'Check that its folder exists and may be written.',
      cause,
    });
  }
}

async function openWriter(file: string, limits: SqliteGraphLimits): Promise<Connection> {
  const writer = new Connection({ file, readOnly: false });
  try {
    // FULL: an acknowledged commit is on the disk, so it survives a crash of the machine.
    writer.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = ${logPages}; pragma cache_size = -16384;`,
    );
    await inTransaction(writer, limits, async () => migrate(writer, storageItems()));
    return writer;
  } catch (thrown) {
    writer.close();
    throw thrown;
  }
}

async function inTransaction<Result>(
  writer: Connection,
  limits: SqliteGraphLimits,
  work: () => Promise<Result>,
): Promise<Result> {
  await begin(writer, limits);
  try {
    const result = await work();
    writer.run('commit', []);
    return result;
  } catch (thrown) {
    // On a full disk SQLite has rolled back already.
    if (writer.inTransaction) writer.run('rollback', []);
    throw thrown;
  }
}

async function begin(writer: Connection, { lockMs }: SqliteGraphLimits): Promise<void> {
  for (const until = performance.now() + lockMs; ; ) {
    try {
      writer.run('begin immediate', []);
      return;
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > until) throw thrown;
      await delay(lockPauseMs);
    }
  }
}

/** After the deadline the transaction is closed, and work that continues fails. */
async function timed<Result>(
  writer: Connection,
  { workMs }: SqliteGraphLimits,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { transaction, mustBeWhole, end } = openTransaction(writer);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new SvcError('timeout', `The change took longer than ${workMs / 1000} s and was not saved.`));
  }, workMs);
  try {
    const result = await Promise.race([work(transaction), late.promise]);
    mustBeWhole();
    return result;
  } finally {
    clearTimeout(timer);
    end();
  }
}
