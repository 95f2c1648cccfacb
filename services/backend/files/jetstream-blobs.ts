import { Readable } from 'node:stream';
import { type JetStreamManager, jetstream, jetstreamManager, StorageType, type StoredMsg } from '@nats-io/jetstream';
import { z } from 'zod';
import { blobSubjects } from '../../contracts/bus/subjects.ts';
import { type Digest, findDigest } from '../../contracts/digest.ts';
import { randomText } from '../../contracts/ids.ts';
import { throughElection } from '../../kit/bus/nats/election.ts';
import { ensureStream, isConflict, type KeptStream, type NatsPlace, storageError } from '../../kit/bus/nats/kept.ts';
import type { Blob, Blobs, Range } from './blobs.ts';
import { checkedBytes, checkRange, noSuchBlob, readThrough } from './check-bytes.ts';

/** A quarter of the largest NATS message, so that a part always fits. */
const partBytes = 256 * 1024;
/** Space that NATS reserves for files; templates/nats.conf has room for it. */
const totalMaxBytes = 8 * 1024 * 1024 * 1024;
const streamName = 'blobs';

/** The record of a blob: its parts have equal size, each a message, under the id of the put that wrote them. */
const record = z.object({ put: z.string(), sizeBytes: z.number().int().nonnegative() });
type BlobRecord = z.infer<typeof record>;

/**
 * Blobs in a JetStream stream that keeps everything. A put writes its parts under its own id, and the blob's record
 * last, which only the first of several puts can write. So an acknowledged blob is complete and never changes.
 */
export class JetStreamBlobs implements Blobs {
  readonly #place: NatsPlace;

  private constructor(place: NatsPlace) {
    this.#place = place;
  }

  static async open(place: NatsPlace): Promise<JetStreamBlobs> {
    await throughElection(place.connection, () => ensureStream(place.connection, configuration));
    return new JetStreamBlobs(place);
  }

  async put(blob: Blob, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const { digest, sizeBytes } = blob;
    const checked = checkedBytes(blob, bytes);
    if ((await this.#record(digest)) !== null) return await readThrough(checked);
    const put = newPut();
    try {
      let index = 0;
      for await (const part of inParts(checked)) await this.#publish(blobSubjects.part(digest, put, index++), part);
    } catch (thrown) {
      await this.#purge(blobSubjects.partsOf(digest, put)).catch(() => undefined);
      throw thrown;
    }
    // Without an answer about the record, the parts stay, because the record may refer to them.
    if (await this.#isFirst(digest, { put, sizeBytes })) return;
    await this.#purge(blobSubjects.partsOf(digest, put));
  }

  async find(digest: Digest): Promise<Blob | null> {
    const found = await this.#record(digest);
    return found === null ? null : { digest, sizeBytes: found.sizeBytes };
  }

  async read(digest: Digest, range?: Range): Promise<Readable> {
    const found = await this.#record(digest);
    if (found === null) throw noSuchBlob(digest);
    const { start, end } = range ?? { start: 0, end: found.sizeBytes };
    checkRange({ start, end }, found.sizeBytes);
    return Readable.from(this.#parts(digest, found.put, { start, end }), { objectMode: false });
  }

  async remove(digest: Digest): Promise<void> {
    const found = await this.#record(digest);
    if (found === null) return;
    // Removes the record first, and only this one: no reader gets half a blob, and a new put's record stays.
    await this.#purge(blobSubjects.record(digest), found.sequence);
    await this.#purge(blobSubjects.partsOf(digest, found.put));
  }

  async *list(): AsyncGenerator<Digest, void, undefined> {
    for (const shelf of shelves) {
      for (const subject of await this.#subjects(blobSubjects.recordsOn(shelf))) {
        const digest = findDigest(subject.split('.').at(-1) ?? '');
        if (digest !== null) yield digest;
      }
    }
  }

  async removeUnfinished(before: number): Promise<void> {
    for (const shelf of shelves) {
      const subjects = await this.#subjects(blobSubjects.partsOn(shelf));
      const puts = new Map(
        subjects.map((subject) => subject.split('.').slice(-3)).map((names) => [names[1], names[0]]),
      );
      for (const [put = '', text = ''] of puts) {
        const digest = findDigest(text);
        if (digest === null || startedAt(put) >= before || (await this.#record(digest))?.put === put) continue;
        await this.#purge(blobSubjects.partsOf(digest, put));
      }
    }
  }

  async *#parts(digest: Digest, put: string, { start, end }: Range): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = start; at < end; ) {
      const index = Math.floor(at / partBytes);
      const part = await this.#message(blobSubjects.part(digest, put, index));
      if (part === null) throw noSuchBlob(digest);
      const from = index * partBytes;
      yield part.data.subarray(at - from, end - from);
      at = from + partBytes;
    }
  }

  async #record(digest: Digest): Promise<(BlobRecord & { readonly sequence: number }) | null> {
    const message = await this.#message(blobSubjects.record(digest));
    return message === null ? null : { ...record.parse(message.json()), sequence: message.seq };
  }

  /** False when another put has written the record. */
  async #isFirst(digest: Digest, written: BlobRecord): Promise<boolean> {
    if (await this.#publish(blobSubjects.record(digest), Buffer.from(JSON.stringify(written)))) return true;
    // An unanswered write may have been stored and then published twice.
    return (await this.#record(digest))?.put === written.put;
  }

  /** False when the subject has a message already. */
  async #publish(subject: string, payload: Uint8Array): Promise<boolean> {
    return await this.#use(async ({ connection }) => {
      try {
        await jetstream(connection).publish(subject, payload, onlyFirst);
        return true;
      } catch (thrown) {
        if (isConflict(thrown)) return false;
        throw thrown;
      }
    });
  }

  #message(subject: string): Promise<StoredMsg | null> {
    return this.#manage(({ streams }) => streams.getMessage(streamName, { last_by_subj: subject }));
  }

  async #purge(filter: string, last?: number): Promise<void> {
    const upTo = last === undefined ? {} : { seq: last + 1 };
    await this.#manage(({ streams }) => streams.purge(streamName, { filter, ...upTo }));
  }

  /** Sorted. */
  async #subjects(filter: string): Promise<readonly string[]> {
    const { state } = await this.#manage(({ streams }) => streams.info(streamName, { subjects_filter: filter }));
    return Object.keys(state.subjects ?? {}).sort();
  }

  #manage<Result>(work: (manager: JetStreamManager) => Promise<Result>): Promise<Result> {
    return this.#use(async (place) => await work(await managerOf(place)));
  }

  async #use<Result>(work: (place: NatsPlace) => Promise<Result>): Promise<Result> {
    this.#place.checkUsable();
    try {
      return await throughElection(this.#place.connection, () => work(this.#place));
    } catch (thrown) {
      throw storageError(thrown);
    }
  }
}

const onlyFirst = { expect: { lastSubjectSequence: 0 } };

const configuration: KeptStream = {
  name: streamName,
  subjects: [blobSubjects.all],
  max_msgs_per_subject: 1,
  max_bytes: totalMaxBytes,
  // A full stream refuses; it drops nothing.
  discard: 'new',
  // On disk even when the bus keeps other streams in memory.
  storage: StorageType.File,
};

/** The first two digits of a digest. */
const shelves = Array.from({ length: 256 }, (_, number) => number.toString(16).padStart(2, '0'));

/** Contains its time of beginning. */
function newPut(): string {
  return `${Date.now().toString(36)}-${randomText(16)}`;
}

function startedAt(put: string): number {
  return Number.parseInt(put.split('-', 1)[0] ?? '', 36);
}

/** Parts of one size, except the last. */
async function* inParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const chunk of bytes) {
    for (let taken = 0; taken < chunk.byteLength; ) {
      const piece = chunk.subarray(taken, taken + partBytes - filled);
      part.set(piece, filled);
      filled += piece.byteLength;
      taken += piece.byteLength;
      if (filled < partBytes) continue;
      yield part;
      part = Buffer.allocUnsafe(partBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

function managerOf({ connection }: NatsPlace): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false });
}
