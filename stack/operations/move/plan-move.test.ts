import { expect, test } from 'vitest';
import { refuseWithoutRoom } from './plan-move.ts';

const megabyte = 1024 * 1024;
const data = { place: '"/data"', repair: 'df -h tells it.' };

test('without room for what is kept, a move is refused with how much there is and how much it needs', () => {
  expect(() => refuseWithoutRoom(data, { neededBytes: 3 * megabyte, freeBytes: 2.5 * megabyte })).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: '"/data" has 2.5 MB left, and a move needs 3.0 MB: the old side is kept.',
      hint: 'Free some space there and try again: df -h tells it.',
    }),
  );
  for (const freeBytes of [3 * megabyte, null]) {
    expect(() => refuseWithoutRoom(data, { neededBytes: 3 * megabyte, freeBytes })).not.toThrow();
  }
});
