import type { Readable } from 'node:stream';
import type { Digest } from '../../contracts/digest.ts';

/**
 * Blobs: bytes that are known by what they are. Engines: a folder, the bus (JetStream). Whose they are is not known here: who knows a digest
 * has no right to anything, and whoever asks here has been asked for his right before.
 */
export interface Blobs {
  /**
   * Stores bytes, durably, when the promise resolves, or nothing of them. They are read to their end also where the blob is there, so that
   * nobody puts what he doesn't have. Throws `too_large` as soon as there are more than was said, `invalid_input` where they are others.
   */
  put(blob: Blob, bytes: AsyncIterable<Uint8Array>): Promise<void>;

  /** What is there under the digest, or null. */
  find(digest: Digest): Promise<Blob | null>;

  /** The bytes, or a range of them, as fast as they are taken. Throws `not_found`, and `invalid_input` for what is no range of them. */
  read(digest: Digest, range?: Range): Promise<Readable>;

  /** Removing what is not there is no error. Who reads at that moment may get an error. */
  remove(digest: Digest): Promise<void>;

  /** All there are, by their digests, a small part at a time. */
  list(): AsyncIterable<Digest>;

  /** Forgets what was begun before that time, in milliseconds, and never ended: its process died. */
  removeUnfinished(before: number): Promise<void>;
}

export interface Blob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** From `start` up to, and without, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface WithBlobs {
  readonly blobs: Blobs;
}
