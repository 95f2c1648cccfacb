import { createHash } from 'node:crypto';
import type { Digest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Blob, Range } from './blobs.ts';

/** The same bytes, of which one too many is never passed on; throws at their end where they are not those of the blob. */
export async function* checkedBytes(
  { digest, sizeBytes }: Blob,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of bytes) {
    read += chunk.byteLength;
    if (read > sizeBytes) throw new SvcError('too_large', `There are more than the ${sizeBytes} bytes that were said.`);
    hash.update(chunk);
    yield chunk;
  }
  if (read < sizeBytes) throw wrong(`there are ${read} of ${sizeBytes} bytes`);
  const found = hash.digest('hex');
  if (found !== digest) throw wrong(`their sha256 is ${found}, not ${digest}`);
}

/** Reads them to their end and keeps none. */
export async function readThrough(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

export function checkRange({ start, end }: Range, sizeBytes: number): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= sizeBytes) return;
  throw new SvcError('invalid_input', `${start} to ${end} is no range of ${sizeBytes} bytes.`);
}

export function noSuchBlob(digest: Digest): SvcError {
  return new SvcError('not_found', `There are no bytes with the digest ${digest}.`);
}

function wrong(why: string): SvcError {
  return new SvcError('invalid_input', `The bytes are not those that were said: ${why}. Nothing was kept.`);
}
