import { jetstream, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { nanos } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import type { Bucket, Entry } from '../bus.ts';
import { checkedKey, checkedValue } from '../check-entry.ts';
import { answerTimeout, throughElection } from './election.ts';
import { ensureStream, isConflict, isGone, type KeptStream, type NatsPlace, storageError } from './kept.ts';
import { bucketStream, keySubject } from './subjects.ts';

/** Sessions are a few hundred bytes each. */
const bucketMaxBytes = 256 * 1024 * 1024;

export interface BucketPlace extends NatsPlace {
  readonly persistent: boolean;
}

/** A bucket on NATS: the last message of each subject of a stream whose messages expire. */
export class NatsBucket implements Bucket {
  readonly #name: string;
  readonly #maxAgeMs: number;
  readonly #place: BucketPlace;
  #opened: Promise<KV> | null = null;

  constructor(name: string, maxAgeMs: number, place: BucketPlace) {
    this.#name = name;
    this.#maxAgeMs = maxAgeMs;
    this.#place = place;
  }

  async get(key: string): Promise<Entry | null> {
    checkedKey(key);
    const entry = await this.#use((kv) => kv.get(key));
    if (entry === null || entry.operation !== 'PUT') return null;
    return { key, value: entry.value, revision: entry.revision };
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    const own = checkedValue(key, value);
    return this.#use((kv) => kv.put(key, own));
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    const own = checkedValue(key, value);
    let tries = 0;
    return this.#use(async (kv) => {
      try {
        tries++;
        return revision === 0 ? await kv.create(key, own) : await kv.update(key, own, revision);
      } catch (error) {
        if (!isConflict(error)) throw error;
        // An unanswered write may still have been stored.
        const there = tries > 1 ? await kv.get(key) : null;
        if (there?.operation === 'PUT' && Buffer.from(own).equals(there.value)) return there.revision;
        throw new SvcError('conflict', `The key "${key}" is no longer at revision ${revision}.`);
      }
    });
  }

  async delete(key: string): Promise<void> {
    checkedKey(key);
    await this.#use((kv) => kv.delete(key));
  }

  async #use<Result>(work: (kv: KV) => Promise<Result>): Promise<Result> {
    this.#place.checkUsable();
    try {
      return await throughElection(this.#place.connection, () => this.#useOpened(work));
    } catch (error) {
      throw storageError(error);
    }
  }

  async #useOpened<Result>(work: (kv: KV) => Promise<Result>): Promise<Result> {
    const opened = await this.#kv();
    return await work(opened).catch(async (error: unknown) => {
      if (!isGone(error)) throw error;
      // A restarted bus has lost the data that it had in memory.
      this.#opened = null;
      return await work(await this.#kv());
    });
  }

  #kv(): Promise<KV> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<KV> {
    const { connection, persistent } = this.#place;
    try {
      await ensureStream(connection, bucketConfiguration(this.#name, { maxAgeMs: this.#maxAgeMs, persistent }));
      return await new Kvm(jetstream(connection, answerTimeout(connection))).open(this.#name, { allow_direct: false });
    } catch (error) {
      this.#opened = null;
      throw storageError(error);
    }
  }
}

export function bucketConfiguration(
  name: string,
  { maxAgeMs, persistent }: { maxAgeMs: number; persistent: boolean },
): KeptStream {
  return {
    name: bucketStream(name),
    subjects: [keySubject(name, '>')],
    max_msgs_per_subject: 1,
    max_age: nanos(maxAgeMs),
    // A key copied from another engine has used up part of its lifetime.
    allow_msg_ttl: true,
    duplicate_window: nanos(Math.min(maxAgeMs, 120_000)),
    max_bytes: bucketMaxBytes,
    discard: 'new',
    storage: persistent ? StorageType.File : StorageType.Memory,
    allow_rollup_hdrs: true,
    deny_delete: true,
    // Reads come from the node that takes writes, so that no read is stale.
    allow_direct: false,
  };
}
