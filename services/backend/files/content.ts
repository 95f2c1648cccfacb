import { createHash } from 'node:crypto';
import { SvcError } from '../../contracts/errors.ts';
import type { Blobs } from './blobs.ts';

export type { Blob, Blobs } from './blobs.ts';

/** All blobs of one side, for a comparison of both sides of a move. */
export interface BlobsContent {
  readonly count: number;
  /** Equal when both sides have the same blobs. */
  readonly digest: string;
}

/**
 * Copies all blobs of one side to the other, which may have some already, and verifies each. Returns the
 * content of the target.
 */
export async function carryBlobs(from: Blobs, to: Blobs, signal: AbortSignal): Promise<BlobsContent> {
  for await (const digest of from.list()) {
    signal.throwIfAborted();
    const blob = await from.find(digest);
    if (blob === null) throw new SvcError('internal', `The blob ${digest} was removed while it was being copied.`);
    await to.put(blob, await from.read(digest));
  }
  const [before, after] = [await readBlobs(from), await readBlobs(to)];
  if (after.digest === before.digest) return after;
  throw new SvcError(
    'internal',
    `The blobs on the new side differ from those on the old side: ${after.count} of ${before.count}.`,
  );
}

/** The content by its digests, which identify every byte. */
export async function readBlobs(blobs: Blobs): Promise<BlobsContent> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const digest of blobs.list()) {
    hash.update(`${digest}\n`);
    count++;
  }
  return { count, digest: hash.digest('hex') };
}
