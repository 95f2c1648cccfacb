import { expect, test } from 'vitest';
import { relative } from './relative-time.tsx';

const now = Date.UTC(2026, 0, 15, 12);

test.each([
  [0, 'now'],
  [30_000, 'in 30s'],
  [-59_000, '59s ago'],
  [-60_000, '1m ago'],
  [-3_599_000, '59m ago'],
  [-2 * 3_600_000, '2h ago'],
  [-26 * 3_600_000, 'yesterday'],
])('%d ms from now is %s', (distance, words) => {
  expect(relative(now + distance, now)).toBe(words);
});
