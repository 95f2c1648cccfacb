import type { Readable } from 'node:stream';
import type { Digest } from '../../contracts/digest.ts';

/**
 * Blobs: bytes named by their digest. Engines: a folder, the bus (JetStream). This interface knows no owners: callers
 * check the right before they use it, because knowing a digest is not a right.
 */
export interface Blobs {
  /**
   * Stores the bytes durably before the promise resolves, or not at all. It reads them to their end even when the blob
   * exists, so that a caller cannot claim bytes it does not have. Throws `too_large` at the first extra byte,
   * `invalid_input` for other bytes.
   */
  put(blob: Blob, bytes: AsyncIterable<Uint8Array>): Promise<void>;

  /** The blob with this digest, or null. */
  find(digest: Digest): Promise<Blob | null>;

  /**
   * The bytes, or a range of them, at the reader's speed. Throws `not_found`, and `invalid_input` for an invalid range.
   */
  read(digest: Digest, range?: Range): Promise<Readable>;

  /** Idempotent. A concurrent reader may get an error. */
  remove(digest: Digest): Promise<void>;

  /** All digests, a small part at a time. */
  list(): AsyncIterable<Digest>;

  /** Removes puts that began before that time, in milliseconds, and never ended: their process died. */
  removeUnfinished(before: number): Promise<void>;
}

export interface Blob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** From `start` up to, but not including, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface WithBlobs {
  readonly blobs: Blobs;
}
