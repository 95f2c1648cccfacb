import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Digest, parseDigest } from '../../contracts/digest.ts';
import type { Blob, Blobs, Range } from './blobs.ts';

/** An engine of blobs under the contract suite. */
export interface BlobsEngine {
  /** Opens an empty store. */
  open(): Promise<Blobs>;
  /** Opens the same store again, as after a restart. */
  reopen(blobs: Blobs): Promise<Blobs>;
}

const kib = 1024;
/** Several parts of any part size, and a rest. */
const large = randomBytes(1200 * kib + 7);

export function blobsContract(engine: BlobsEngine): void {
  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['few bytes', Buffer.from('few')],
    ['many bytes', large],
    ['a number of bytes without a rest', randomBytes(1024 * kib)],
  ])('returns %s as they were put', async (_, bytes) => {
    const blobs = await engine.open();
    const blob = blobOf(bytes);
    expect(await blobs.find(blob.digest)).toBeNull();
    await blobs.put(blob, inChunks(bytes));
    expect(await blobs.find(blob.digest)).toEqual(blob);
    await expectBytes(blobs, blob.digest, bytes);
    const later = await engine.reopen(blobs);
    await expectBytes(later, blob.digest, bytes);
  });

  it('returns any range of them', async () => {
    const blobs = await engine.open();
    const blob = blobOf(large);
    await blobs.put(blob, inChunks(large));
    const part = 256 * kib;
    for (const [start, end] of [
      ...[[0, 1] as const, [0, part] as const, [part - 1, part + 1] as const, [part, 2 * part] as const],
      ...[[5, 900 * kib] as const, [large.length - 1, large.length] as const, [0, large.length] as const],
      [7, 7] as const,
    ]) {
      expect((await read(blobs, blob.digest, { start, end })).equals(large.subarray(start, end)), `${start}`).toBe(
        true,
      );
    }
  });

  it.each([
    { start: -1, end: 2 },
    { start: 2, end: 1 },
    { start: 0, end: 4 },
    { start: 0.5, end: 1 },
    { start: Number.NaN, end: 1 },
  ])('refuses $start to $end as a range of three bytes', async (range) => {
    const blobs = await engine.open();
    const blob = blobOf(Buffer.from('abc'));
    await blobs.put(blob, inChunks(Buffer.from('abc')));
    await expect(blobs.read(blob.digest, range)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('stores bytes that are put twice once, and still reads the second body', async () => {
    const blobs = await engine.open();
    const blob = blobOf(large);
    await blobs.put(blob, inChunks(large));
    const told = counting(large);
    await blobs.put(blob, told.bytes);
    expect(told.count()).toBe(large.length);
    expect(await all(blobs.list())).toEqual([blob.digest]);
    await expectBytes(blobs, blob.digest, large);
  });

  it('lets several callers put the same bytes at the same time', async () => {
    const blobs = await engine.open();
    const blob = blobOf(large);
    await Promise.all(Array.from({ length: 5 }, () => blobs.put(blob, inChunks(large, 50 * kib))));
    expect(await all(blobs.list())).toEqual([blob.digest]);
    await blobs.removeUnfinished(Date.now() + 60_000);
    await expectBytes(blobs, blob.digest, large);
  });

  it.each([
    ['other bytes', Buffer.from('abd'), 'invalid_input'],
    ['too few', Buffer.from('ab'), 'invalid_input'],
    ['too many', Buffer.from('abcd'), 'too_large'],
    ['none', Buffer.alloc(0), 'invalid_input'],
  ])('refuses %s, and neither keeps nor loses anything', async (_, wrong, code) => {
    const blobs = await engine.open();
    const right = Buffer.from('abc');
    const blob = blobOf(right);
    await expect(blobs.put(blob, inChunks(wrong))).rejects.toMatchObject({ code });
    expect(await blobs.find(blob.digest)).toBeNull();
    expect(await all(blobs.list())).toEqual([]);
    await expect(blobs.read(blob.digest)).rejects.toMatchObject({ code: 'not_found' });
    await blobs.put(blob, inChunks(right));
    // A caller that knows the digest of a stored blob must still have its bytes.
    await expect(blobs.put(blob, inChunks(wrong))).rejects.toMatchObject({ code });
    await expectBytes(blobs, blob.digest, right);
  });

  it('reads at most one chunk too many of an endless stream', async () => {
    const blobs = await engine.open();
    let given = 0;
    async function* endless() {
      for (;;) {
        given += kib;
        yield Buffer.alloc(kib);
      }
    }
    const blob = { ...blobOf(large), sizeBytes: 10 * kib };
    await expect(blobs.put(blob, endless())).rejects.toMatchObject({ code: 'too_large' });
    expect(given).toBe(11 * kib);
  });

  it('serves nothing of an interrupted put, and takes the same bytes later', async () => {
    const blobs = await engine.open();
    const blob = blobOf(large);
    async function* breakingOff() {
      yield large.subarray(0, 900 * kib);
      throw new Error('the connection is gone');
    }
    await expect(blobs.put(blob, breakingOff())).rejects.toThrow('the connection is gone');
    expect(await blobs.find(blob.digest)).toBeNull();
    await blobs.put(blob, inChunks(large));
    await expectBytes(blobs, blob.digest, large);
  });

  it('removes one blob and no other', async () => {
    const blobs = await engine.open();
    const [one, other] = [Buffer.from('one'), Buffer.from('other')];
    for (const bytes of [one, other]) await blobs.put(blobOf(bytes), inChunks(bytes));
    await blobs.remove(blobOf(one).digest);
    await blobs.remove(blobOf(one).digest);
    expect(await blobs.find(blobOf(one).digest)).toBeNull();
    await expect(blobs.read(blobOf(one).digest)).rejects.toMatchObject({ code: 'not_found' });
    await expectBytes(blobs, blobOf(other).digest, other);
    await blobs.put(blobOf(one), inChunks(one));
    await expectBytes(blobs, blobOf(one).digest, one);
  });

  it('lists all blobs by their digests', async () => {
    const blobs = await engine.open();
    const put = Array.from({ length: 40 }, (_, number) => Buffer.from(`number ${number}`));
    await Promise.all(put.map((bytes) => blobs.put(blobOf(bytes), inChunks(bytes))));
    expect(await all(blobs.list())).toEqual(put.map((bytes) => blobOf(bytes).digest).sort());
  });
}

export function blobOf(bytes: Uint8Array): Blob {
  return { digest: parseDigest(createHash('sha256').update(bytes).digest('hex')), sizeBytes: bytes.byteLength };
}

export async function* inChunks(bytes: Uint8Array, chunkBytes = 64 * kib): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

export async function read(blobs: Blobs, digest: Digest, range?: Range): Promise<Buffer> {
  return Buffer.concat(await all<Uint8Array>(await blobs.read(digest, range)));
}

/** Compared as a whole, because comparing each byte takes seconds. */
export async function expectBytes(blobs: Blobs, digest: Digest, bytes: Buffer): Promise<void> {
  expect((await read(blobs, digest)).equals(bytes)).toBe(true);
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function counting(bytes: Uint8Array) {
  let count = 0;
  async function* counted() {
    for await (const chunk of inChunks(bytes)) {
      count += chunk.byteLength;
      yield chunk;
    }
  }
  return { bytes: counted(), count: () => count };
}
