import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesLeft, findFullDisk } from './free-space.ts';

test('a part of the disk is reserved for root', () => {
  const disk = { blocks: 100, bsize: 4096, bfree: 7, bavail: 2 };
  expect(bytesLeft(disk, true)).toBe(7 * 4096);
  expect(bytesLeft(disk, false)).toBe(2 * 4096);
});

test('a file system without a limit is never full', () => {
  expect(bytesLeft({ blocks: 0, bsize: 4096, bfree: 0, bavail: 0 }, true)).toBeNull();
});

test('with free space, no disk is full', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-room-'));
  expect(findFullDisk({ stateDir: dir, dataDir: dir, logsDir: dir } as never)).toBeNull();
  rmSync(dir, { recursive: true });
});
