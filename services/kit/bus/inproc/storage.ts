import { chmodSync, closeSync, openSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import type { Bucket, BucketOptions } from '../bus.ts';
import { BucketStore } from './bucket-store.ts';
import { StreamStore } from './stream-store.ts';
import { Writer } from './writer.ts';

/** How often expired and excess data is removed, a bounded amount each time. */
const cleanUpEveryMs = 1000;

/**
 * Streams and buckets in one SQLite file that this process owns. The write-ahead log (WAL, synchronous=NORMAL) keeps
 * every acknowledged write across any end of the process. Stream records are also synced to disk, so they survive a
 * loss of power. Keys of a bucket may lose their last moments to one, but stay consistent.
 */
export class Storage {
  readonly #database: DatabaseSync;
  readonly #writer: Writer;
  readonly #logger: Logger;
  readonly #log: FileHandle | null;
  readonly #streams = new Map<string, StreamStore>();
  readonly #buckets = new Map<string, BucketStore>();
  readonly #cleaning: NodeJS.Timeout;
  #closing = false;

  private constructor(database: DatabaseSync, log: FileHandle | null, logger: Logger) {
    this.#database = database;
    this.#log = log;
    this.#logger = logger;
    this.#writer = new Writer(database, log);
    this.#cleaning = setInterval(() => this.#cleanUp(), cleanUpEveryMs);
    this.#cleaning.unref();
  }

  /** Opens the file. Null opens a database in memory. */
  static async open(file: string | null, logger: Logger): Promise<Storage> {
    try {
      if (file !== null) closeToOthers(file);
      const database = new DatabaseSync(file ?? ':memory:');
      database.exec(settings);
      createTables(database);
      return new Storage(database, file === null ? null : await openFile(`${file}-wal`, 'r+'), logger);
    } catch (error) {
      throw cannotOpen(file ?? ':memory:', error);
    }
  }

  stream(name: string): StreamStore {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const stream = new StreamStore(name, { database: this.#database, writer: this.#writer, logger: this.#logger });
    this.#streams.set(name, stream);
    return stream;
  }

  bucket(name: string, options: BucketOptions): Bucket {
    const known = this.#buckets.get(name);
    if (known !== undefined) {
      known.maxAgeMs = options.maxAgeMs;
      return known;
    }
    const bucket = new BucketStore(name, options.maxAgeMs, this.#database, this.#writer);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#cleaning);
    await Promise.all([...this.#streams.values()].map((stream) => stream.close()));
    await this.#writer.close();
    this.#database.close();
    await this.#log?.close();
  }

  #cleanUp(): void {
    for (const store of [...this.#streams.values(), ...this.#buckets.values()]) {
      store.cleanUp().catch((error: unknown) => {
        if (!this.#closing) this.#logger.error({ err: error }, 'failed to clean up');
      });
    }
  }
}

/** Result codes of SQLite. */
const busy = 5;
const full = 13;
const notADatabase = 26;

export function cannotOpen(file: string, cause: unknown): SvcError {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : null;
  const message = `Cannot open the file "${file}" of the bus`;
  if (code === busy) {
    return new SvcError('conflict', `${message}: another process uses it.`, {
      hint: 'Find the running installation: svc status. Stop it: svc down',
      cause,
    });
  }
  if (code === full) {
    return new SvcError('unavailable', `${message}: the disk is full.`, {
      hint: 'Free some space and try again. Show the space: df -h',
      cause,
    });
  }
  if (code === notADatabase) {
    return new SvcError('unavailable', `${message}: it is damaged.`, {
      hint: 'Move the file away: the next start creates a new one. Sessions end, and usage that was not counted yet is lost.',
      cause,
    });
  }
  return new SvcError('unavailable', `${message}.`, {
    hint: 'Check that its folder exists and that this user may write to it.',
    cause,
  });
}

export function createTables(database: DatabaseSync): void {
  database.exec(tables);
}

/** A checkpoint blocks the event loop: at most 4 ms for 250 pages (1 MB), 13 ms for 1,000 (measured). */
const settings = `
  PRAGMA wal_autocheckpoint = 250;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA journal_size_limit = 16777216;
`;

/** The revision of a key is its row number, which only grows, also across deletions. */
const tables = `
  CREATE TABLE IF NOT EXISTS stream (
    name TEXT PRIMARY KEY, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS record (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, stream TEXT NOT NULL, at INTEGER NOT NULL, payload BLOB NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS record_by_stream ON record (stream, sequence);
  CREATE TABLE IF NOT EXISTS consumer (
    stream TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (stream, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS entry (
    revision INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, key TEXT NOT NULL, put_at INTEGER NOT NULL, value BLOB NOT NULL,
    UNIQUE (bucket, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entry_by_age ON entry (bucket, put_at);
`;

/** SQLite would create the file readable for other users. Its side files get the mode of this one. */
export function closeToOthers(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}
