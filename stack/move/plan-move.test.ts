import { expect, test } from 'vitest';
import { refuseWithoutRoom } from './plan-move.ts';

const megabyte = 1024 * 1024;

test('without room for what is kept, a move is refused with how much there is and how much it needs', () => {
  expect(() => refuseWithoutRoom('"/data"', { neededBytes: 3 * megabyte, freeBytes: 2.5 * megabyte })).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: '"/data" has 2.5 MB left, and a move needs 3.0 MB: the old side is kept.',
    }),
  );
  for (const freeBytes of [3 * megabyte, null]) {
    expect(() => refuseWithoutRoom('"/data"', { neededBytes: 3 * megabyte, freeBytes })).not.toThrow();
  }
});
