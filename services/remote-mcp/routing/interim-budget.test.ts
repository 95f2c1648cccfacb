import { expect, test } from 'vitest';
import { notificationMaxBytes } from '../../contracts/bus/call.ts';
import { boundsOfCall, boundsOfProcess, InterimBudget } from './interim-budget.ts';

const kept = (budget: InterimBudget, { everyMs, bytes, times }: { everyMs: number; bytes: number; times: number }) =>
  Array.from({ length: times }, (_, at) => budget.spend(at * everyMs, bytes)).filter((isKept) => isKept).length;

test('keeps a hundred progress notifications a second for any duration', () => {
  expect(kept(new InterimBudget(boundsOfCall, 0), { everyMs: 10, bytes: 300, times: 6000 })).toBe(6000);
});

test('the largest notifications are kept, a few at once and four a second', () => {
  const budget = new InterimBudget(boundsOfCall, 0);
  expect(kept(budget, { everyMs: 0, bytes: notificationMaxBytes, times: 100 })).toBe(4);
  expect(budget.spend(250, notificationMaxBytes)).toBe(true);
  expect(budget.spend(250, notificationMaxBytes)).toBe(false);
});

test('keeps the allowed number of a flood each second', () => {
  const budget = new InterimBudget(boundsOfCall, 0);
  expect(kept(budget, { everyMs: 0, bytes: 100, times: 100_000 })).toBe(200);
  expect(Array.from({ length: 1000 }, () => budget.spend(1000, 100)).filter((isKept) => isKept)).toHaveLength(100);
});

test('gives all calls of a process together more than one call, within a bound', () => {
  const budget = new InterimBudget(boundsOfProcess, 0);
  expect(kept(budget, { everyMs: 0, bytes: 100, times: 100_000 })).toBe(2000);
});
