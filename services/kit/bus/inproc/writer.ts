import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SvcError } from '../../../contracts/errors.ts';

/** When a write is acknowledged: once it is in the write-ahead log, or once the log is on disk. */
export type Durability = 'log' | 'disk';

interface Write {
  /** Must leave the database unchanged if it throws. */
  readonly work: () => unknown;
  readonly durability: Durability;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting {
  readonly acknowledge: () => void;
  readonly reject: (error: unknown) => void;
}

/** The write-ahead log that must reach the disk. */
export interface SyncedFile {
  datasync(): Promise<void>;
}

/** A transaction ends after this long, so that the event loop can run, even when more writes wait. */
const sliceMs = 2;
const waitingMax = 100_000;

/**
 * Combines writes into transactions: one commit for all writes of a turn, one disk sync for all that arrived meanwhile.
 */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #log: SyncedFile | null;
  #waiting: Write[] = [];
  #unsynced: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #closed = false;

  constructor(database: DatabaseSync, log: SyncedFile | null) {
    this.#database = database;
    this.#log = log;
  }

  write<Result>(durability: Durability, work: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(new SvcError('unavailable', 'The bus has stopped.'));
    if (this.#waiting.length >= waitingMax) {
      return Promise.reject(new SvcError('rate_limited', 'Too many writes are waiting for the disk.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, durability, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#syncing;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      this.#commitSlice();
    }
    this.#flushing = null;
  }

  #commitSlice(): void {
    const ends = performance.now() + sliceMs;
    const done: (Waiting & Pick<Write, 'durability'>)[] = [];
    let taken = 0;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      do {
        const write = this.#waiting[taken++];
        if (write === undefined) break;
        const { durability, resolve, reject } = write;
        try {
          const result = write.work();
          done.push({ durability, reject, acknowledge: () => resolve(result as never) });
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          reject(error);
        }
      } while (performance.now() < ends);
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const failure = cannotWrite(error);
      for (const write of this.#waiting.splice(0, taken)) write.reject(failure);
      return;
    }
    this.#waiting.splice(0, taken);
    for (const write of done) {
      if (write.durability === 'log' || this.#log === null) write.acknowledge();
      else this.#unsynced.push(write);
    }
    if (this.#log !== null && this.#unsynced.length > 0) this.#syncing ??= this.#sync(this.#log);
  }

  /** Same effect as synchronous=FULL after every commit, but in another thread and once for all waiting writes. */
  async #sync(log: SyncedFile): Promise<void> {
    while (this.#unsynced.length > 0) {
      const synced = this.#unsynced.splice(0);
      try {
        await log.datasync();
        for (const write of synced) write.acknowledge();
      } catch (error) {
        for (const write of synced) write.reject(cannotWrite(error));
      }
    }
    this.#syncing = null;
  }
}

export function cannotWrite(error: unknown): SvcError {
  return new SvcError('unavailable', 'The bus cannot write to its file.', {
    hint: 'Check whether the disk is full: df -h',
    cause: error,
  });
}
