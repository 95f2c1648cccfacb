import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createLook, findBirth } from './processes.ts';
import { baseMaxBytes, openTemporaryFolders, removeLeftTemporary, temporaryMaxBytes } from './temporary-folders.ts';

const look = createLook();

/** A working directory, and a folder as deep as one of an installation below it. */
async function openGrounds() {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-temporary-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const deep = path.join(folder, 'a-long-name-of-a-folder'.repeat(3), 'data/runtime');
  await mkdir(deep, { recursive: true });
  return { folder, deep, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a folder is private, short enough for a socket of Chromium, and new for each launch', async () => {
  await using grounds = await openGrounds();
  const folders = await openTemporaryFolders(grounds.deep);
  const [one, other] = [await folders.make(), await folders.make()];
  expect(one).not.toBe(other);
  expect(Buffer.byteLength(one)).toBeLessThanOrEqual(temporaryMaxBytes);
  for (const made of [folders.base, one]) expect((await lstat(made)).mode & 0o777).toBe(0o700);
  const socket = path.join(one, 'org.chromium.Chromium.aBcDeF', 'SingletonSocket');
  await mkdir(path.dirname(socket));
  const server = createServer().listen(socket);
  await once(server, 'listening');
  server.close();
  await folders.close();
  expect(existsSync(folders.base)).toBe(false);
  expect(await readdir(path.join(grounds.deep, 'temporary'))).toEqual([]);
});

test('even the longest folder leaves room for a socket', () => {
  expect(temporaryMaxBytes + '/org.chromium.Chromium.aBcDeF/SingletonSocket'.length).toBeLessThan(104);
});

test('a folder that is too long or not writable is passed over, and none at all is an error with a hint', async () => {
  await using grounds = await openGrounds();
  const long = path.join(grounds.folder, 'x'.repeat(baseMaxBytes));
  await mkdir(long);
  const folders = await openTemporaryFolders(grounds.deep, [long, '/proc', grounds.folder]);
  expect(path.dirname(folders.base)).toBe(grounds.folder);
  await folders.close();
  const none = openTemporaryFolders(grounds.deep, [long, '/proc']);
  await expect(none).rejects.toMatchObject({ code: 'unavailable', hint: expect.stringContaining('Set TMPDIR') });
  expect(await readdir(path.join(grounds.deep, 'temporary'))).toEqual([]);
});

test('the next runtime removes the folders of a killed one, and no folder of a living one', async () => {
  await using grounds = await openGrounds();
  const living = await openTemporaryFolders(grounds.folder);
  const killed = await noteOf(grounds.folder, 'svc-kilLed');
  await mkdir(path.join(killed, 'full'), { recursive: true });
  await removeLeftTemporary(grounds.folder, look);
  expect([killed, living.base].map((one) => existsSync(one))).toEqual([false, true]);
  expect(await readdir(path.join(grounds.folder, 'temporary'))).toEqual([path.basename(living.base)]);
  await living.close();
});

test('a link, a foreign name and its content stay', async () => {
  await using grounds = await openGrounds();
  const kept = path.join(grounds.folder, 'kept');
  await mkdir(kept);
  await writeFile(path.join(kept, 'file'), 'x');
  await symlink(kept, await noteOf(grounds.folder, 'svc-linKed'));
  await noteOf(grounds.folder, 'kept');
  await removeLeftTemporary(grounds.folder, look);
  expect(existsSync(path.join(kept, 'file'))).toBe(true);
  expect(await readdir(path.join(grounds.folder, 'temporary'))).toEqual([]);
});

/** The note of an ended process about a base folder of this name. */
async function noteOf(workingDir: string, name: string): Promise<string> {
  const ended = spawn('true');
  const owner = { pid: ended.pid, birth: (await findBirth(ended.pid ?? 0)) ?? 'unknown' };
  await once(ended, 'close');
  const base = path.join(workingDir, name);
  await mkdir(path.join(workingDir, 'temporary'), { recursive: true });
  await writeFile(path.join(workingDir, 'temporary', name), JSON.stringify({ base, owner }));
  return base;
}
