import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refuseWithoutRoom, sizeOf } from './plan-move.ts';

const megabyte = 1024 * 1024;

test('without room for what is kept, a move is refused with how much there is and how much it needs', () => {
  expect(() => refuseWithoutRoom('/data', { neededBytes: 3 * megabyte, freeBytes: 2.5 * megabyte })).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: '"/data" has 2.5 MB left, and a move needs 3.0 MB: the old side is kept.',
    }),
  );
  for (const freeBytes of [3 * megabyte, null]) {
    expect(() => refuseWithoutRoom('/data', { neededBytes: 3 * megabyte, freeBytes })).not.toThrow();
  }
});

test('a folder is as large as all files in it, and what is not there has no size', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-size-'));
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  writeFileSync(join(dir, 'one'), 'x'.repeat(10));
  writeFileSync(join(dir, 'a/b/two'), 'x'.repeat(5));
  expect([sizeOf(dir), sizeOf(join(dir, 'one')), sizeOf(join(dir, 'none'))]).toEqual([15, 10, 0]);
  rmSync(dir, { recursive: true });
});
