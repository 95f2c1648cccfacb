import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../log.ts';
import type { StreamBounds } from '../stream-bounds.ts';
import { BucketStore } from './bucket-store.ts';
import { createTables, Storage } from './storage.ts';
import { StreamStore } from './stream-store.ts';
import { Writer } from './writer.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  folders.push(folder);
  return join(folder, 'bus.sqlite');
}

const lines: string[] = [];
const destination = { write: (line: string) => void lines.push(line) };
const logger = createLog({ service: 'test', level: 'info', destination })('test');
const never: StreamBounds = { maxBytes: 1e9, maxAgeMs: 1e9 };
const record = (size: number) => new Uint8Array(size).fill(65);

describe('the file', () => {
  it('belongs to one process at a time', async () => {
    const file = newFile();
    const storage = await Storage.open(file, logger);
    await expect(Storage.open(file, logger)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(file),
    });
    await storage.close();
    await (await Storage.open(file, logger)).close();
  });

  it('in a missing folder is refused by its path', async () => {
    const opening = Storage.open('/nowhere/bus.sqlite', logger);
    await expect(opening).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('/nowhere') });
  });

  it('that is damaged is refused with an explanation and left unchanged', async () => {
    const file = newFile();
    const damaged = 'This is no database. '.repeat(1000);
    writeFileSync(file, damaged);
    await expect(Storage.open(file, logger)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('damaged'),
    });
    expect(readFileSync(file, 'utf8')).toBe(damaged);
  });

  it('has no file when nothing is to be kept', async () => {
    const storage = await Storage.open(null, logger);
    const bucket = storage.bucket('sessions', { maxAgeMs: 60_000 });
    await bucket.put('a', record(1));
    expect((await bucket.get('a'))?.value).toEqual(record(1));
    await storage.stream('usage').append(record(1));
    await storage.close();
    await expect(bucket.put('a', record(1))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('contains every acknowledged write, as a copy made at that moment shows', async () => {
    const file = newFile();
    const storage = await Storage.open(file, logger);
    await storage.stream('usage').append(record(1));
    await storage.bucket('sessions', { maxAgeMs: 60_000 }).put('a', record(1));
    const copy = newFile();
    // As after kill -9: no close, checkpoint or flush happens first.
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    await storage.close();
    const database = new DatabaseSync(copy);
    expect(database.prepare('SELECT count(*) AS n FROM record').get()?.n).toBe(1);
    expect(database.prepare('SELECT count(*) AS n FROM entry').get()?.n).toBe(1);
    database.close();
  });
});

describe('a disk that is full', () => {
  it('fails writes without room, keeps the others, and takes new ones once there is room', async () => {
    const { writer, database } = inMemory();
    const bucket = new BucketStore('sessions', 60_000, database, writer);
    await bucket.put('before', record(10));
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 2}`);
    const failed = { code: 'unavailable', hint: expect.stringContaining('disk') };
    await expect(bucket.put('large', record(100_000))).rejects.toMatchObject(failed);
    expect(await bucket.get('large')).toBeNull();
    database.exec('PRAGMA max_page_count = 100000');
    await bucket.put('large', record(100_000));
    for (const key of ['before', 'large']) expect(await bucket.get(key)).not.toBeNull();
  });
});

describe('many writes at once', () => {
  it('share transactions and let the event loop run in between', async () => {
    const { writer, database } = inMemory();
    const bucket = new BucketStore('sessions', 60_000, database, writer);
    let turns = 0;
    let done = false;
    const puts = Promise.all(Array.from({ length: 20_000 }, (_, i) => bucket.put(`key-${i}`, record(200))));
    void puts.then(() => {
      done = true;
    });
    while (!done) {
      await nextTurn();
      turns++;
    }
    expect(turns).toBeGreaterThan(5);
    expect(turns).toBeLessThan(5000);
    expect(new Set(await puts).size).toBe(20_000);
  });

  it("beyond the queue's limit are refused", async () => {
    const { writer, database } = inMemory();
    const bucket = new BucketStore('sessions', 60_000, database, writer);
    const settled = await Promise.allSettled(Array.from({ length: 100_010 }, () => bucket.delete('a')));
    const refused = settled.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]?.reason).toMatchObject({ code: 'rate_limited' });
  });

  it('that are appended are on disk when acknowledged, many with one sync', async () => {
    const { database } = inMemory();
    let syncs = 0;
    const releases: (() => void)[] = [];
    const log = { datasync: () => new Promise<void>((resolve) => releases.push(resolve)).then(() => void syncs++) };
    const writer = new Writer(database, log);
    const stream = new StreamStore('usage', { database, writer, logger }, never);
    const acknowledged: number[] = [];
    const append = (i: number) => stream.append(record(1)).then(() => acknowledged.push(i));
    const first = append(0);
    await waitFor(() => releases.length === 1);
    const rest = Array.from({ length: 100 }, (_, i) => append(i + 1));
    await waitFor(() => database.prepare('SELECT count(*) AS n FROM record').get()?.n === 101);
    expect(acknowledged).toEqual([]);
    releases[0]?.();
    await first;
    expect(acknowledged).toEqual([0]);
    await waitFor(() => releases.length === 2);
    releases[1]?.();
    await Promise.all(rest);
    expect(syncs).toBe(2);
  });
});

describe('a stream', () => {
  it('removes records that every consumer has handled, and no others', async () => {
    const { writer, database } = inMemory();
    const stream = new StreamStore('usage', { database, writer, logger }, never);
    for (let i = 0; i < 1200; i++) void stream.append(record(10));
    await stream.append(record(10));
    await stream.cleanUp();
    expect(kept(database)).toEqual({ records: 1201, bytes: 12_010 });
    const handled = Promise.withResolvers<void>();
    let count = 0;
    const quick = stream.consume('quick', async (batch) => {
      count += batch.length;
      if (count === 1201) handled.resolve();
    });
    const slow = stream.consume('slow', () => Promise.reject(new Error('thrown by a test')));
    await handled.promise;
    await quick.stop();
    await slow.stop();
    await stream.cleanUp();
    expect(kept(database).records).toBe(1201);
    const both = Promise.withResolvers<void>();
    let late = 0;
    const mended = stream.consume('slow', async (batch) => {
      late += batch.length;
      if (late === 1201) both.resolve();
    });
    await both.promise;
    await mended.stop();
    await stream.cleanUp();
    expect(kept(database)).toEqual({ records: 0, bytes: 0 });
  });

  it('drops the oldest records beyond its size, and logs it', async () => {
    const { writer, database } = inMemory();
    const stream = new StreamStore('usage', { database, writer, logger }, { ...never, maxBytes: 1000 });
    for (let i = 0; i < 30; i++) void stream.append(record(i === 29 ? 99 : 100));
    await stream.append(record(100));
    await stream.cleanUp();
    expect(kept(database)).toEqual({ records: 10, bytes: 999 });
    expect(lines.join()).toContain('removed records that no consumer handled in time');
    const first = await new Promise<number>((resolve) => {
      stream.consume('reader', async (batch) => resolve(batch.length));
    });
    expect(first).toBe(10);
  });

  it('drops records beyond their age', async () => {
    const { writer, database } = inMemory();
    const stream = new StreamStore('usage', { database, writer, logger }, { ...never, maxAgeMs: 60_000 });
    await stream.append(record(1));
    await stream.append(record(2));
    database.exec(`UPDATE record SET at = ${Date.now() - 61_000} WHERE sequence = 1`);
    await stream.cleanUp();
    expect(kept(database)).toEqual({ records: 1, bytes: 2 });
  });
});

describe('a bucket', () => {
  it('does not show an expired key that is not removed yet', async () => {
    const { writer, database } = inMemory();
    const bucket = new BucketStore('sessions', 60_000, database, writer);
    const revision = await bucket.put('old', record(1));
    database.exec(`UPDATE entry SET put_at = ${Date.now() - 61_000}`);
    expect(await bucket.get('old')).toBeNull();
    await expect(bucket.update('old', record(2), revision)).rejects.toMatchObject({ code: 'conflict' });
    await bucket.update('old', record(2), 0);
    expect((await bucket.get('old'))?.value).toEqual(record(2));
  });

  it('removes expired keys, a bounded number at a time', async () => {
    const { writer, database } = inMemory();
    const bucket = new BucketStore('sessions', 60_000, database, writer);
    await Promise.all(Array.from({ length: 600 }, (_, i) => bucket.put(`old-${i}`, record(1))));
    database.exec(`UPDATE entry SET put_at = ${Date.now() - 61_000}`);
    await bucket.put('new', record(1));
    const entries = () => database.prepare('SELECT count(*) AS n FROM entry').get()?.n;
    const counts: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      await bucket.cleanUp();
      counts.push(entries());
    }
    expect(counts).toEqual([351, 101, 1, 1]);
    expect(await bucket.get('new')).not.toBeNull();
  });
});

function inMemory(): { readonly writer: Writer; readonly database: DatabaseSync } {
  const database = new DatabaseSync(':memory:');
  createTables(database);
  return { writer: new Writer(database, null), database };
}

function kept(database: DatabaseSync) {
  return {
    records: database.prepare('SELECT count(*) AS n FROM record').get()?.n,
    bytes: database.prepare("SELECT bytes FROM stream WHERE name = 'usage'").get()?.bytes,
  };
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}
