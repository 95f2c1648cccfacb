import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createInstallation } from '../../operations/create-installation.ts';
import { hasNodeData } from '../../place/node-data.ts';
import type { Installation } from '../../state/installation.ts';
import { nodeFolder, writeInNode, writeNode } from '../../test/made-up-node.ts';
import { canMount, SmallDisk } from '../../test/small-disk.ts';
import { readPlan } from '../plan-of.ts';
import { nodesInFolders } from './nodes-in-folders.ts';

let dir: string;
let installation: Installation;
let good: string;
let lost: string;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-nodes-in-folders-'));
  ({ installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed', graph: 'dgraph' }));
  good = nodeFolder(installation, 'dgraph-alpha');
  lost = nodeFolder(installation, 'dgraph-alpha-2');
  writeNode(installation, 'dgraph-alpha', 7);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const copying = { from: 'dgraph-alpha', to: 'dgraph-alpha-2' };
const placesFor = (signal = new AbortController().signal) =>
  nodesInFolders({ plan: readPlan(installation), signal, onNotice: () => undefined });
const copy = (signal?: AbortSignal) => placesFor(signal).copy(copying);
const idIn = (folder: string) => readFileSync(join(folder, 'w/wal.meta')).readBigUInt64BE(0);

/** Moves a folder to another disk, and leaves a symbolic link. */
function linkAway(folder: string, name: string): string {
  const elsewhere = join(dir, name);
  renameSync(folder, elsewhere);
  symlinkSync(elsewhere, folder);
  return elsewhere;
}

function expectCopied(): void {
  expect(idIn(good)).toBe(7n);
  expect(hasNodeData(installation, 'dgraph-alpha')).toBe(true);
  expect(idIn(lost)).toBe(0n);
  expect(hasNodeData(installation, 'dgraph-alpha-2')).toBe(true);
  expect(readdirSync(lost).sort()).toEqual(readdirSync(good).sort());
  for (const name of ['p', 'w']) expect(lstatSync(join(lost, name)).isSymbolicLink()).toBe(false);
}

describe('a copy of a node of Dgraph leaves the other node alone', () => {
  test('whose folder is a link', async () => {
    linkAway(good, 'disk');
    await copy();
    expectCopied();
  });

  test('whose folders are links', async () => {
    writeInNode(installation, 'dgraph-alpha', 't/file', 'text');
    for (const name of ['p', 'w', 't']) linkAway(join(good, name), name);
    await copy();
    expectCopied();
    expect(readFileSync(join(lost, 't/file'), 'utf8')).toBe('text');
  });

  test('and a node whose data is back', async () => {
    writeNode(installation, 'dgraph-alpha-2', 8);
    await expect(copy()).rejects.toMatchObject({ code: 'conflict' });
    expect(idIn(lost)).toBe(8n);
  });

  test('whose folder lies inside the one to fill', async () => {
    symlinkSync(dir, lost);
    await expect(copy()).rejects.toMatchObject({
      code: 'conflict',
      message: `"${lost}" and "${good}" are the same folder, or one contains the other.`,
    });
    expect(hasNodeData(installation, 'dgraph-alpha')).toBe(true);
  });
});

test('a copy goes where the link of the lost node leads', async () => {
  mkdirSync(join(dir, 'new disk'));
  symlinkSync(join(dir, 'new disk'), lost);
  await copy();
  expectCopied();
  expect(readdirSync(join(dir, 'new disk')).sort()).toEqual(['p', 'w']);
});

test('lost+found of a disk is neither copied nor removed', async () => {
  writeInNode(installation, 'dgraph-alpha', 'lost+found/theirs', '');
  writeInNode(installation, 'dgraph-alpha-2', 'lost+found/ours', '');
  await copy();
  expectCopied();
  expect(readdirSync(join(lost, 'lost+found'))).toEqual(['ours']);
});

describe('a copy that fails leaves nothing, and names the reason', () => {
  test('where a link leads nowhere', async () => {
    symlinkSync('nowhere', join(good, 'p/link'));
    await expect(copy()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^".*alpha" could not be copied to ".*alpha-2": cp: .*p\/link.*No such file/),
    });
    expect(readdirSync(lost)).toEqual([]);
  });

  test('where the folder to fill is a link to no folder', async () => {
    symlinkSync(join(dir, 'unmounted'), lost);
    await expect(copy()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(lost) });
  });

  test('where it is interrupted', async () => {
    await expect(copy(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
    expect(readdirSync(lost)).toEqual([]);
  });

  test('where it is interrupted while it copies, and cp writes for a moment longer', async () => {
    const begun = join(lost, 'copy/begun');
    const late = `trap 'sleep 0.2; mkdir "$draft/late"; exit 1' TERM`;
    const lines = ['#!/bin/sh', 'for draft; do :; done', late, `touch '${begun}'`, 'while :; do sleep 0.05; done'];
    writeFileSync(join(dir, 'cp'), lines.join('\n'), { mode: 0o700 });
    vi.stubEnv('PATH', `${dir}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const interrupting = new AbortController();
    const refused = expect(copy(interrupting.signal)).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => existsSync(begun), { timeout: 5_000 }).toBe(true);
    interrupting.abort();
    await refused;
    expect(readdirSync(lost)).toEqual([]);
  });

  test.skipIf(!canMount)('where the disk is full', async () => {
    using _ = SmallDisk.mount(lost, 1);
    writeInNode(installation, 'dgraph-alpha', 'p/000001.vlog', Buffer.alloc(2_000_000, 1));
    await expect(copy()).rejects.toMatchObject({ message: expect.stringContaining('No space left on device') });
    expect(readdirSync(lost)).toEqual([]);
  });
});

describe('the room that copies need', () => {
  const mb = 1_000_000;

  test('is what the other node has, without what the folder to fill has already', async () => {
    writeInNode(installation, 'dgraph-alpha', 'p/000001.vlog', Buffer.alloc(3 * mb, 1));
    writeInNode(installation, 'dgraph-alpha', 'lost+found/theirs', Buffer.alloc(3 * mb, 1));
    linkAway(join(good, 'p'), 'p');
    writeInNode(installation, 'dgraph-alpha-2', 'copy/p/000001.vlog', Buffer.alloc(2 * mb, 1));
    const [room, ...others] = await placesFor().roomsFor([copying]);
    expect(others).toEqual([]);
    expect(room?.neededBytes).toBeGreaterThan(0.99 * mb);
    expect(room?.neededBytes).toBeLessThan(1.1 * mb);
  });

  test('is counted once for each disk', async () => {
    writeInNode(installation, 'dgraph-alpha', 'p/000001.vlog', Buffer.alloc(3 * mb, 1));
    const rooms = await placesFor().roomsFor([copying, { ...copying, to: 'dgraph-alpha-3' }]);
    expect(rooms).toHaveLength(1);
    expect(rooms[0]?.neededBytes).toBeGreaterThan(6 * mb);
  });

  test.skipIf(!canMount)('is looked for where the copy is made', async () => {
    using _ = SmallDisk.mount(lost, 1);
    const [room] = await placesFor().roomsFor([copying]);
    expect(room?.place).toBe(`"${lost}"`);
    expect(room?.freeBytes).toBeLessThanOrEqual(1024 * 1024);
  });
});
