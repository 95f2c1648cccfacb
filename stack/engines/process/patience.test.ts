import { expect, test } from 'vitest';
import { restartDelay, runsSeen, usualPatience } from './patience.ts';

const policy = usualPatience.restarts;
const runs = (count: number, livedMs = 100) => Array.from({ length: count }, () => livedMs);

test('the first time it is started again at once, then after ever longer times, then given up', () => {
  const steps = Array.from({ length: runsSeen(policy) }, (_, failed) => restartDelay(runs(failed + 1), policy));
  expect(steps).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 10_000, null]);
});

test('who lived long is started at once, however often that was', () => {
  const long = policy.stableMs;
  expect(restartDelay(runs(runsSeen(policy), long), policy)).toBe(0);
  expect(restartDelay([...runs(policy.triesMax), long], policy)).toBe(0);
});

test('ends before a stable run do not count', () => {
  expect(restartDelay([...runs(7), policy.stableMs, 100, 100], policy)).toBe(250);
});
