import { expect, test } from 'vitest';
import { bytesLeft, refuseWithoutRoom } from './free-space.ts';

test('a part of the disk is reserved for root, and a file system without a limit is never full', () => {
  const disk = { blocks: 100, bsize: 4096, bfree: 7, bavail: 2 };
  expect([bytesLeft(disk, true), bytesLeft(disk, false)]).toEqual([7 * 4096, 2 * 4096]);
  expect(bytesLeft({ blocks: 0, bsize: 4096, bfree: 0, bavail: 0 }, true)).toBeNull();
});

const megabyte = 1024 * 1024;
const diskWith = (freeBytes: number | null) => ({ place: '"/data"', repair: 'df -h tells it.', freeBytes });

test('without room for the kept data, work is refused with the free and the needed bytes', () => {
  expect(() => refuseWithoutRoom(diskWith(2.5 * megabyte), 3 * megabyte, 'a move')).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: '"/data" has 2.5 MB left, and a move needs up to 3.0 MB.',
      hint: 'Free some space there and try again: df -h tells it.',
    }),
  );
  for (const freeBytes of [3 * megabyte, null]) {
    expect(() => refuseWithoutRoom(diskWith(freeBytes), 3 * megabyte, 'a move')).not.toThrow();
  }
});
