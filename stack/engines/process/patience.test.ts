import { expect, test } from 'vitest';
import { restartDelay, shortRunsAfter, usualPatience } from './patience.ts';

const policy = usualPatience.restarts;

test('the first time it is started again at once, then after ever longer times, then given up', () => {
  const delays = Array.from({ length: 10 }, (_, shortRuns) => restartDelay(shortRuns, policy));
  expect(delays).toEqual([0, 0, 250, 500, 1000, 2000, 4000, 8000, 10_000, null]);
});

test('only short runs in a row count', () => {
  expect([policy.stableMs - 1, policy.stableMs].map((livedMs) => shortRunsAfter(livedMs, 7, policy))).toEqual([8, 0]);
});
