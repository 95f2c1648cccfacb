import { createHash } from 'node:crypto';
import { SvcError } from '../../contracts/errors.ts';
import type { Blobs } from './blobs.ts';

export type { Blob, Blobs } from './blobs.ts';

/** All blobs of one side, as whoever moves an installation compares it with the other. */
export interface BlobsContent {
  readonly count: number;
  /** Equal where the same blobs are there. */
  readonly digest: string;
}

/** Copies all of one side to the other, where some may be already; each is verified as it is put. Says what there is then. */
export async function carryBlobs(from: Blobs, to: Blobs, signal: AbortSignal): Promise<BlobsContent> {
  for await (const digest of from.list()) {
    signal.throwIfAborted();
    const blob = await from.find(digest);
    if (blob === null) throw new SvcError('internal', `The blob ${digest} went while it was being carried.`);
    await to.put(blob, await from.read(digest));
  }
  const [before, after] = [await readBlobs(from), await readBlobs(to)];
  if (after.digest === before.digest) return after;
  throw new SvcError(
    'internal',
    `The blobs on the new side are not those of the old one: ${after.count} of ${before.count}.`,
  );
}

/** What there is, by the digests, which say it to the last byte. */
export async function readBlobs(blobs: Blobs): Promise<BlobsContent> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const digest of blobs.list()) {
    hash.update(`${digest}\n`);
    count++;
  }
  return { count, digest: hash.digest('hex') };
}
