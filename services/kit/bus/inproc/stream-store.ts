import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Logger } from '../../log.ts';
import type { Stream, Subscription } from '../bus.ts';
import { checkedRecord } from '../check-entry.ts';
import { type BatchHandler, batchMaxBytes, batchMaxRecords } from '../handle-batch.ts';
import { type StreamBounds, streamBounds } from '../stream-bounds.ts';
import { bytesOf } from './column.ts';
import { type Batch, Consumer } from './consumer.ts';
import type { Writer } from './writer.ts';

/** Old records removed at a time. */
const cleanUpMax = 500;

/** The database and name of a stream or bucket. */
export interface Place {
  readonly database: DatabaseSync;
  readonly writer: Writer;
  readonly logger: Logger;
}

export class StreamStore implements Stream {
  readonly #name: string;
  readonly #writer: Writer;
  readonly #logger: Logger;
  readonly #bounds: StreamBounds;
  readonly #consumers = new Map<string, Consumer>();
  readonly #statements;

  constructor(name: string, place: Place, bounds: StreamBounds = streamBounds) {
    const { database, writer, logger } = place;
    this.#name = name;
    this.#bounds = bounds;
    this.#writer = writer;
    this.#logger = logger;
    this.#statements = prepare(database);
  }

  async append(payload: Uint8Array): Promise<void> {
    const own = checkedRecord(payload, 'A record');
    await this.#writer.write('disk', () => {
      this.#statements.append.run(this.#name, Date.now(), own);
      this.#statements.grow.run(this.#name, own.byteLength);
    });
    for (const consumer of this.#consumers.values()) consumer.wake();
  }

  consume(name: string, handle: BatchHandler): Subscription {
    const known = this.#consumers.get(name);
    const consumer =
      known ??
      new Consumer(`${this.#name}/${name}`, this.#logger, {
        next: () => this.#nextBatch(name),
        done: (batch) => this.#writer.write('log', () => this.#statements.move.run(this.#name, name, batch.end)),
      });
    if (known === undefined) {
      this.#consumers.set(name, consumer);
      this.#writer
        .write('log', () => this.#statements.meet.run(this.#name, name))
        .catch((error: unknown) =>
          this.#logger.error({ err: error, consumer: name }, 'failed to store a new consumer'),
        );
    }
    return consumer.add(handle);
  }

  /** Removes records that every consumer has handled, and records beyond the bounds in any case. */
  async cleanUp(): Promise<void> {
    for (let removed = cleanUpMax; removed === cleanUpMax; ) {
      const round = await this.#writer.write('log', () => this.#removeOld());
      removed = round.removed;
      if (round.lost > 0) {
        this.#logger.warn({ stream: this.#name, lost: round.lost }, 'removed records that no consumer handled in time');
      }
    }
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
      const payload = bytesOf(row.payload);
      size += payload.byteLength;
      if (records.length > 0 && size > batchMaxBytes) break;
      records.push(payload);
      end = Number(row.sequence);
    }
    return records.length === 0 ? null : { records, end };
  }

  #removeOld(): { readonly removed: number; readonly lost: number } {
    const handled = Number(this.#statements.handled.get(this.#name)?.position ?? 0);
    const oldest = Date.now() - this.#bounds.maxAgeMs;
    let excess = Number(this.#statements.bytes.get(this.#name)?.bytes ?? 0) - this.#bounds.maxBytes;
    let last = 0;
    let removed = 0;
    let lost = 0;
    let freed = 0;
    for (const row of this.#statements.oldest.iterate(this.#name, cleanUpMax)) {
      const sequence = Number(row.sequence);
      if (sequence > handled && excess <= 0 && Number(row.at) > oldest) break;
      last = sequence;
      freed += Number(row.size);
      excess -= Number(row.size);
      removed++;
      if (sequence > handled) lost++;
    }
    if (removed > 0) {
      this.#statements.remove.run(this.#name, last);
      this.#statements.grow.run(this.#name, -freed);
    }
    return { removed, lost };
  }
}

function prepare(
  database: DatabaseSync,
): Record<
  'append' | 'grow' | 'bytes' | 'after' | 'position' | 'meet' | 'move' | 'handled' | 'oldest' | 'remove',
  StatementSync
> {
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
    meet: database.prepare('INSERT INTO consumer (stream, name, position) VALUES (?, ?, 0) ON CONFLICT DO NOTHING'),
    handled: database.prepare('SELECT min(position) AS position FROM consumer WHERE stream = ?'),
    move: database.prepare(
      'INSERT INTO consumer (stream, name, position) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
    ),
    oldest: database.prepare(
      'SELECT sequence, at, length(payload) AS size FROM record WHERE stream = ? ORDER BY sequence LIMIT ?',
    ),
    remove: database.prepare('DELETE FROM record WHERE stream = ? AND sequence <= ?'),
  };
}
