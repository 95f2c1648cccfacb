import { expect, test } from 'vitest';
import { refuseWithoutRoom } from './prepare-target.ts';

const megabyte = 1024 * 1024;
const disk = (freeBytes: number | null) => ({ place: '"/data"', repair: 'df -h tells it.', freeBytes });

test('without room for the kept data, a move is refused with the free and the needed bytes', () => {
  expect(() => refuseWithoutRoom(disk(2.5 * megabyte), 3 * megabyte, 'a move')).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: '"/data" has 2.5 MB left, and a move needs 3.0 MB: the data before is kept.',
      hint: 'Free some space there and try again: df -h tells it.',
    }),
  );
  for (const freeBytes of [3 * megabyte, null]) {
    expect(() => refuseWithoutRoom(disk(freeBytes), 3 * megabyte, 'a move')).not.toThrow();
  }
});
