import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { canMount, SmallDisk } from '../../../stack/test/small-disk.ts';
import { all, blobOf, blobsContract, expectBytes, inChunks } from './blobs.contract.ts';
import { FolderBlobs } from './folder-blobs.ts';

const putting = fileURLToPath(new URL('./put-until-killed.contract.ts', import.meta.url));
const folders: string[] = [];
const openIn = new Map<unknown, string>();
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-blobs-'));
  folders.push(folder);
  return folder;
}

async function open(dir = join(newFolder(), 'blobs')): Promise<FolderBlobs> {
  const blobs = await FolderBlobs.open(dir);
  openIn.set(blobs, dir);
  return blobs;
}

describe('blobs in a folder', () => {
  blobsContract({ open, reopen: (blobs) => open(openIn.get(blobs)) });
});

it('are not readable for other users of the machine', async () => {
  const dir = join(newFolder(), 'blobs');
  const bytes = Buffer.from('secret');
  const blob = blobOf(bytes);
  await (await open(dir)).put(blob, inChunks(bytes));
  const shelf = join(dir, blob.digest.slice(0, 2));
  const modes = [dir, shelf, join(dir, 'drafts'), join(shelf, blob.digest)].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
});

it('only blobs are listed, whatever other files are in the folder', async () => {
  const dir = join(newFolder(), 'blobs');
  const blobs = await open(dir);
  const bytes = Buffer.from('a');
  await blobs.put(blobOf(bytes), inChunks(bytes));
  writeFileSync(join(dir, '.gitignore'), '*');
  writeFileSync(join(dir, blobOf(bytes).digest.slice(0, 2), 'notes.txt'), 'x');
  expect(await all(blobs.list())).toEqual([blobOf(bytes).digest]);
});

it('drafts of a dead process are removed once they are old, and no others', async () => {
  const dir = join(newFolder(), 'blobs');
  const blobs = await open(dir);
  writeFileSync(join(dir, 'drafts', 'left'), 'half');
  await blobs.removeUnfinished(Date.now() - 60_000);
  expect(readdirSync(join(dir, 'drafts'))).toEqual(['left']);
  await blobs.removeUnfinished(Date.now() + 1000);
  expect(readdirSync(join(dir, 'drafts'))).toEqual([]);
});

it('a crash at any moment leaves no partial blob, and loses nothing acknowledged', async () => {
  const dir = join(newFolder(), 'blobs');
  let first = 0;
  for (let round = 0; round < 8; round++) {
    const stored = await putUntilKilled(dir, { first, lines: 1 + round * 2 });
    const blobs = await open(dir);
    for (let number = first; number <= stored; number++) {
      const bytes = Buffer.alloc(300_000, `${number} `);
      await expectBytes(blobs, blobOf(bytes).digest, bytes);
    }
    // Every other blob is complete.
    for await (const digest of blobs.list()) {
      const found = createHash('sha256');
      for await (const chunk of await blobs.read(digest)) found.update(chunk);
      expect(found.digest('hex')).toBe(digest);
    }
    first = stored + 1;
  }
  expect(first).toBeGreaterThan(8);
}, 60_000);

/** The number of the last blob that the process acknowledged; it is killed during the next. */
async function putUntilKilled(dir: string, { first, lines }: { first: number; lines: number }): Promise<number> {
  const child = spawn(process.execPath, [putting, dir, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let [last, seen] = [-1, 0];
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    seen += 1;
    if (seen === lines) child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return last;
}

it.skipIf(!canMount)('a full disk is named in the refusal, loses nothing, and later works again', async () => {
  using disk = SmallDisk.mount(newFolder(), 1);
  const dir = join(disk.folder, 'blobs');
  const blobs = await open(dir);
  const [kept, large] = [Buffer.alloc(100_000, 'k'), Buffer.alloc(950_000, 'l')];
  await blobs.put(blobOf(kept), inChunks(kept));
  await expect(blobs.put(blobOf(large), inChunks(large))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/disk is full/),
    hint: expect.stringMatching(/Make room/),
  });
  expect(readdirSync(join(dir, 'drafts'))).toEqual([]);
  expect(await all(blobs.list())).toEqual([blobOf(kept).digest]);
  await expectBytes(blobs, blobOf(kept).digest, kept);
  await blobs.remove(blobOf(kept).digest);
  await blobs.put(blobOf(large), inChunks(large));
  await expectBytes(blobs, blobOf(large).digest, large);
});

it('a folder that cannot be created is refused by name', async () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  await expect(FolderBlobs.open(join(file, 'blobs'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(file),
    hint: expect.stringContaining('FILES_DIR'),
  });
});
