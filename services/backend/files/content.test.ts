import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findNatsServer, TestServer } from '../../kit/bus/nats/test/server.ts';
import { blobOf, expectBytes, inChunks } from './blobs.contract.ts';
import { carryBlobs, readBlobs } from './content.ts';
import { openBlobsContent } from './open-content.ts';

const { signal } = new AbortController();
const made = [Buffer.alloc(0), Buffer.from('small'), randomBytes(700_000)];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-blobs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const openFolder = (name: string) => openBlobsContent({ engine: 'folder', dir: join(folder, name) });

async function filled(name: string) {
  const opened = await openFolder(name);
  for (const bytes of made) await opened.blobs.put(blobOf(bytes), inChunks(bytes));
  return opened;
}

describe.skipIf(findNatsServer() === null)('copied blobs', () => {
  it('to a bus without a backend and back are unchanged, and may be copied again', async () => {
    await using from = await filled('from');
    const server = await TestServer.start(folder);
    try {
      const { seeds, url } = server;
      const onBus = { engine: 'jetstream', servers: [url], caPath: null, seeds } as const;
      const there = await readBlobs(from.blobs);
      expect(there.count).toBe(3);
      await using bus = await openBlobsContent(onBus);
      expect(await carryBlobs(from.blobs, bus.blobs, signal)).toEqual(there);
      expect(await carryBlobs(from.blobs, bus.blobs, signal)).toEqual(there);
      await using back = await openFolder('back');
      expect(await carryBlobs(bus.blobs, back.blobs, signal)).toEqual(there);
      for (const bytes of made) await expectBytes(back.blobs, blobOf(bytes).digest, bytes);
    } finally {
      await server.stop();
    }
  });
});

it('a target with other content is detected', async () => {
  await using from = await filled('one');
  await using to = await openFolder('other');
  const more = Buffer.from('more');
  await to.blobs.put(blobOf(more), inChunks(more));
  await expect(carryBlobs(from.blobs, to.blobs, signal)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('4 of 3'),
  });
});

it('a cancelled copy ends', async () => {
  await using from = await filled('cancelled');
  await using to = await openFolder('nothing');
  await expect(carryBlobs(from.blobs, to.blobs, AbortSignal.abort())).rejects.toThrow();
  expect((await readBlobs(to.blobs)).count).toBe(0);
});
