import { chmodSync, closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../contracts/errors.ts';
import type { Graph, Transaction } from '../graph.ts';
import { Connection } from './connection.ts';
import { migrate } from './migrate.ts';
import { readsOn } from './reads.ts';
import { runFollow, runRows } from './run-plan.ts';
import { isBusy, toGraphError } from './sqlite-errors.ts';
import { openTransaction } from './sqlite-transaction.ts';
import { storageItems } from './storage.ts';
import { closedError, WriteQueue } from './write-queue.ts';

export interface SqliteGraphOptions {
  readonly file: string;
  /** How long the work of one transaction may take. */
  readonly workMs?: number;
}

/** Long enough for work that only reads and writes the graph, short enough that what waits behind a hung one is not given up. */
const workMs = 10_000;
const queue = { waitMs: 30_000, waitingMax: 1000 };
/** How long another process (a backup, a shell) may hold the file. */
const lockMs = 5000;
const lockPauseMs = 20;

export async function openSqliteGraph(options: SqliteGraphOptions): Promise<Graph> {
  const { file } = options;
  createPrivately(file);
  const writer = openWriter(file);
  const reader = new Connection({ file, readOnly: true });
  const writes = new WriteQueue(queue);
  let closing: Promise<void> | null = null;
  const mustBeOpen = () => {
    if (closing !== null) throw closedError();
    return reader;
  };
  const reads = readsOn({
    point: async (plan) => runRows(mustBeOpen(), plan),
    rows: async (plan) => runRows(mustBeOpen(), plan),
    follow: async (plan) => runFollow(mustBeOpen(), plan),
  });

  return {
    ...reads,

    write: (work) => writes.run(() => commit(writer, work, options.workMs ?? workMs)),

    async ready() {
      mustBeOpen().rows('select 1', []);
    },

    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    await writes.close();
    reader.close();
    writer.exec('pragma wal_checkpoint(truncate)');
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

function openWriter(file: string): Connection {
  const writer = new Connection({ file, readOnly: false });
  try {
    // Full: a commit is on the disk when it is acknowledged, whatever happens to the machine then.
    writer.exec('pragma journal_mode = wal; pragma synchronous = full;');
    migrate(writer, storageItems());
    return writer;
  } catch (thrown) {
    writer.close();
    throw thrown;
  }
}

async function commit<Result>(
  writer: Connection,
  work: (transaction: Transaction) => Promise<Result>,
  timeMs: number,
): Promise<Result> {
  await begin(writer);
  const { transaction, end } = openTransaction(writer);
  try {
    const result = await inTime(work(transaction), timeMs);
    end();
    writer.run('commit', []);
    return result;
  } catch (thrown) {
    end();
    // A full disk has rolled back already.
    if (writer.inTransaction) writer.run('rollback', []);
    throw thrown;
  }
}

async function begin(writer: Connection): Promise<void> {
  for (const until = performance.now() + lockMs; ; ) {
    try {
      writer.run('begin immediate', []);
      return;
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > until) throw toGraphError(thrown, writer.file);
      await delay(lockPauseMs);
    }
  }
}

async function inTime<Result>(work: Promise<Result>, timeMs: number): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new SvcError('timeout', `The change took longer than ${timeMs / 1000} s and was not saved.`));
  }, timeMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
