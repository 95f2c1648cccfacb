import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '../../../contracts/errors.ts';
import type { Bucket, Entry } from '../bus.ts';
import { checkedKey, checkedValue } from '../check-entry.ts';
import { bytesOf } from './column.ts';
import type { Writer } from './writer.ts';

/** Expired keys removed at a time, a few milliseconds' work. Readers no longer see them before that. */
const cleanUpMax = 250;

export class BucketStore implements Bucket {
  maxAgeMs: number;
  readonly #name: string;
  readonly #writer: Writer;
  readonly #select: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #expire: StatementSync;

  constructor(name: string, maxAgeMs: number, database: DatabaseSync, writer: Writer) {
    this.#name = name;
    this.maxAgeMs = maxAgeMs;
    this.#writer = writer;
    this.#select = database.prepare('SELECT revision, value FROM entry WHERE bucket = ? AND key = ? AND put_at > ?');
    this.#put = database.prepare('INSERT OR REPLACE INTO entry (bucket, key, put_at, value) VALUES (?, ?, ?, ?)');
    this.#remove = database.prepare('DELETE FROM entry WHERE bucket = ? AND key = ?');
    this.#expire = database.prepare(
      'DELETE FROM entry WHERE revision IN (SELECT revision FROM entry WHERE bucket = ? AND put_at <= ? LIMIT ?)',
    );
  }

  async get(key: string): Promise<Entry | null> {
    checkedKey(key);
    const row = this.#select.get(this.#name, key, this.#oldest());
    if (row === undefined) return null;
    return { key, revision: Number(row.revision), value: bytesOf(row.value) };
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    const own = checkedValue(key, value);
    return this.#writer.write('log', () => this.#store(key, own));
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    const own = checkedValue(key, value);
    return this.#writer.write('log', () => {
      const row = this.#select.get(this.#name, key, this.#oldest());
      const present = Number(row?.revision ?? 0);
      if (present !== revision) {
        throw new SvcError('conflict', `The key "${key}" is at revision ${present}, not ${revision}.`);
      }
      return this.#store(key, own);
    });
  }

  async delete(key: string): Promise<void> {
    checkedKey(key);
    await this.#writer.write('log', () => this.#remove.run(this.#name, key));
  }

  async cleanUp(): Promise<void> {
    await this.#writer.write('log', () => this.#expire.run(this.#name, this.#oldest(), cleanUpMax));
  }

  #store(key: string, value: Uint8Array): number {
    return Number(this.#put.run(this.#name, key, Date.now(), value).lastInsertRowid);
  }

  #oldest(): number {
    return Date.now() - this.maxAgeMs;
  }
}
