import { expect, test } from 'vitest';
import { nextStep, runsSeen, usualPatience } from './patience.ts';

const policy = usualPatience.restarts;
const runs = (count: number, livedMs = 100) => Array.from({ length: count }, () => livedMs);

test('the first time it is started again at once, then after ever longer times, then given up', () => {
  const steps = Array.from({ length: runsSeen(policy) }, (_, failed) => nextStep(runs(failed + 1), policy));
  expect(steps).toEqual([
    ...[0, 250, 500, 1000, 2000, 4000, 8000, 10_000].map((delayMs) => ({ kind: 'start', delayMs })),
    { kind: 'give_up' },
  ]);
});

test('who lived long is started at once, however often that was', () => {
  const long = policy.stableMs;
  expect(nextStep(runs(runsSeen(policy), long), policy)).toEqual({ kind: 'start', delayMs: 0 });
  expect(nextStep([...runs(policy.triesMax), long], policy)).toEqual({ kind: 'start', delayMs: 0 });
});

test('ends before a stable run do not count', () => {
  expect(nextStep([...runs(7), policy.stableMs, 100, 100], policy)).toEqual({ kind: 'start', delayMs: 250 });
});
