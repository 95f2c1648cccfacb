import { expect, test } from 'vitest';
import { nextStep, runsSeen, stableMs } from './restart-policy.ts';

const runs = (count: number, livedMs = 100) => Array.from({ length: count }, () => livedMs);

test('the first time it is started again at once, then after ever longer times, then given up', () => {
  const steps = Array.from({ length: runsSeen }, (_, failed) => nextStep(runs(failed + 1)));
  expect(steps).toEqual([
    ...[0, 250, 500, 1000, 2000, 4000, 8000, 10_000].map((delayMs) => ({ kind: 'start', delayMs })),
    { kind: 'give_up' },
  ]);
});

test('who lived long is started at once, however often that was', () => {
  expect(nextStep(runs(runsSeen, stableMs))).toEqual({ kind: 'start', delayMs: 0 });
  expect(nextStep([...runs(runsSeen - 1), stableMs])).toEqual({ kind: 'start', delayMs: 0 });
});

test('what was before a long life does not count', () => {
  expect(nextStep([...runs(7), stableMs, 100, 100])).toEqual({ kind: 'start', delayMs: 250 });
});
