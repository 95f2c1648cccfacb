import { createHash } from 'node:crypto';
import type { Digest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Blob, Range } from './blobs.ts';

/** Passes the bytes on, never one too many; throws at their end when they do not match the blob. */
export async function* checkedBytes(
  { digest, sizeBytes }: Blob,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of bytes) {
    read += chunk.byteLength;
    if (read > sizeBytes) throw new SvcError('too_large', `There are more than the announced ${sizeBytes} bytes.`);
    hash.update(chunk);
    yield chunk;
  }
  if (read < sizeBytes) throw wrong(`there are ${read} of ${sizeBytes} bytes`);
  const found = hash.digest('hex');
  if (found !== digest) throw wrong(`their sha256 is ${found}, not ${digest}`);
}

/** Reads the bytes to their end and discards them. */
export async function readThrough(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

export function checkRange({ start, end }: Range, sizeBytes: number): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= sizeBytes) return;
  throw new SvcError('invalid_input', `${start} to ${end} is not a range of ${sizeBytes} bytes.`);
}

export function noSuchBlob(digest: Digest): SvcError {
  return new SvcError('not_found', `There are no bytes with the digest ${digest}.`);
}

function wrong(why: string): SvcError {
  return new SvcError('invalid_input', `The bytes do not match the announced ones: ${why}. Nothing was stored.`);
}
