import { DatabaseSync } from 'node:sqlite';
import type { BusContent, KeptEntry, KeptRecord, SqliteContentOptions } from '../content.ts';
import { bytesOf } from './column.ts';
import { cannotOpen, closeToOthers, createTables } from './storage.ts';
import { cannotWrite } from './writer.ts';

/** Items written in one transaction, so that large content needs little memory. */
const transactionMax = 1000;

/** The bus file while no process has it open. Complete and on disk once closed. */
export class SqliteBusContent implements BusContent {
  readonly #database: DatabaseSync;
  readonly #keyMaxAgeMs: number;

  constructor({ file, keyMaxAgeMs }: SqliteContentOptions) {
    this.#keyMaxAgeMs = keyMaxAgeMs;
    try {
      closeToOthers(file);
      this.#database = new DatabaseSync(file);
      this.#database.exec('PRAGMA synchronous = FULL');
      createTables(this.#database);
    } catch (error) {
      throw cannotOpen(file, error);
    }
  }

  async *records(stream: string): AsyncGenerator<KeptRecord> {
    const handled = this.#database
      .prepare('SELECT coalesce(min(position), 0) AS position FROM consumer WHERE stream = ?')
      .get(stream);
    const rows = this.#database
      .prepare('SELECT payload FROM record WHERE stream = ? AND sequence > ? ORDER BY sequence')
      .iterate(stream, Number(handled?.position));
    for (const { payload } of rows) yield { payload: bytesOf(payload) };
  }

  async *entries(bucket: string): AsyncGenerator<KeptEntry> {
    const rows = this.#database
      .prepare('SELECT key, value, put_at FROM entry WHERE bucket = ? AND put_at > ?')
      .iterate(bucket, Date.now() - this.#keyMaxAgeMs);
    for (const { key, value, put_at: putAt } of rows) {
      yield { key: String(key), value: bytesOf(value), expiresAt: Number(putAt) + this.#keyMaxAgeMs };
    }
  }

  async addRecords(stream: string, records: AsyncIterable<KeptRecord>): Promise<void> {
    const add = this.#database.prepare('INSERT INTO record (stream, at, payload) VALUES (?, ?, ?)');
    const grow = this.#database.prepare(
      'INSERT INTO stream (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET bytes = bytes + excluded.bytes',
    );
    await this.#inTransactions(records, ({ payload }) => {
      // The record's age starts again at zero, because it bounds how long records wait for an absent backend.
      add.run(stream, Date.now(), payload);
      grow.run(stream, payload.byteLength);
    });
  }

  async addEntries(bucket: string, entries: AsyncIterable<KeptEntry>): Promise<void> {
    const put = this.#database.prepare('INSERT OR REPLACE INTO entry (bucket, key, put_at, value) VALUES (?, ?, ?, ?)');
    await this.#inTransactions(entries, ({ key, value, expiresAt }) => {
      // The bucket here may have a shorter age than the bucket that the key comes from.
      put.run(bucket, key, Math.min(Math.floor(expiresAt - this.#keyMaxAgeMs), Date.now()), value);
    });
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  async #inTransactions<Item>(items: AsyncIterable<Item>, write: (item: Item) => void): Promise<void> {
    let batch: Item[] = [];
    for await (const item of items) {
      batch.push(item);
      if (batch.length < transactionMax) continue;
      this.#writeAll(batch, write);
      batch = [];
    }
    this.#writeAll(batch, write);
  }

  #writeAll<Item>(items: readonly Item[], write: (item: Item) => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const item of items) write(item);
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw cannotWrite(error);
    }
  }
}
