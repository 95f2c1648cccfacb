import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import { frameMaxBytes, type Stream, type Subscription } from '../bus.ts';
import { type Batch, Consumer } from './consumer.ts';
import type { Writer } from './writer.ts';

/** What a stream keeps for a consumer that is away; the oldest goes first. */
const keptMaxBytes = 256 * 1024 * 1024;
const keptMaxAgeMs = 7 * 24 * 60 * 60 * 1000;
/** Old records removed at a time. */
const cleanUpMax = 500;
/** What a consumer is handed at once. */
const batchMaxRecords = 256;
const batchMaxBytes = 1024 * 1024;

export class StreamStore implements Stream {
  readonly #name: string;
  readonly #writer: Writer;
  readonly #logger: Logger;
  readonly #consumers = new Map<string, Consumer>();
  readonly #statements;

  constructor(name: string, database: DatabaseSync, writer: Writer, logger: Logger) {
    this.#name = name;
    this.#writer = writer;
    this.#logger = logger;
    this.#statements = prepare(database);
  }

  async append(payload: Uint8Array): Promise<void> {
    if (payload.byteLength > frameMaxBytes) {
      throw new SvcError(
        'too_large',
        `A record of ${payload.byteLength} bytes is above the limit of ${frameMaxBytes}.`,
      );
    }
    const own = Buffer.from(payload);
    await this.#writer.write('disk', () => {
      this.#statements.append.run(this.#name, Date.now(), own);
      this.#statements.grow.run(this.#name, own.byteLength);
    });
    for (const consumer of this.#consumers.values()) consumer.wake();
  }

  consume(name: string, handle: (batch: readonly Uint8Array[]) => Promise<void>): Subscription {
    const known = this.#consumers.get(name);
    const consumer =
      known ??
      new Consumer(`${this.#name}/${name}`, this.#logger, {
        next: () => this.#nextBatch(name),
        done: (batch) => this.#writer.write('log', () => this.#statements.move.run(this.#name, name, batch.end)),
      });
    if (known === undefined) this.#consumers.set(name, consumer);
    return consumer.add(handle);
  }

  async cleanUp(): Promise<void> {
    const removed = await this.#writer.write('log', () => this.#removeOld());
    if (removed > 0)
      this.#logger.warn({ stream: this.#name, removed }, 'removed records that were too old or too many');
  }

  async close(): Promise<void> {
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.close()));
  }

  #nextBatch(consumer: string): Batch | null {
    const position = Number(this.#statements.position.get(this.#name, consumer)?.position ?? 0);
    const records: Uint8Array[] = [];
    let end = position;
    let size = 0;
    for (const row of this.#statements.after.iterate(this.#name, position, batchMaxRecords)) {
      if (!(row.payload instanceof Uint8Array)) throw new Error('A column of bytes holds something else.');
      size += row.payload.byteLength;
      if (records.length > 0 && size > batchMaxBytes) break;
      records.push(row.payload);
      end = Number(row.sequence);
    }
    return records.length === 0 ? null : { records, end };
  }

  #removeOld(): number {
    const bytes = Number(this.#statements.bytes.get(this.#name)?.bytes ?? 0);
    const oldest = Date.now() - keptMaxAgeMs;
    let excess = bytes - keptMaxBytes;
    let last = 0;
    let removed = 0;
    let freed = 0;
    for (const row of this.#statements.oldest.iterate(this.#name, cleanUpMax)) {
      if (excess <= 0 && Number(row.at) > oldest) break;
      last = Number(row.sequence);
      freed += Number(row.size);
      excess -= Number(row.size);
      removed++;
    }
    if (removed === 0) return 0;
    this.#statements.remove.run(this.#name, last);
    this.#statements.grow.run(this.#name, -freed);
    return removed;
  }
}

function prepare(
  database: DatabaseSync,
): Record<'append' | 'grow' | 'bytes' | 'after' | 'position' | 'move' | 'oldest' | 'remove', StatementSync> {
  return {
    append: database.prepare('INSERT INTO record (stream, at, payload) VALUES (?, ?, ?)'),
    grow: database.prepare(
      'INSERT INTO stream (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET bytes = bytes + excluded.bytes',
    ),
    bytes: database.prepare('SELECT bytes FROM stream WHERE name = ?'),
    after: database.prepare(
      'SELECT sequence, payload FROM record WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    ),
    position: database.prepare('SELECT position FROM consumer WHERE stream = ? AND name = ?'),
    move: database.prepare(
      'INSERT INTO consumer (stream, name, position) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
    ),
    oldest: database.prepare(
      'SELECT sequence, at, length(payload) AS size FROM record WHERE stream = ? ORDER BY sequence LIMIT ?',
    ),
    remove: database.prepare('DELETE FROM record WHERE stream = ? AND sequence <= ?'),
  };
}
