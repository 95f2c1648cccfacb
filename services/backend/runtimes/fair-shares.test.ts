import { expect, test } from 'vitest';
import { fairShares } from './fair-shares.ts';

const shares = (demands: Readonly<Record<string, number>>, total: number) =>
  Object.fromEntries(fairShares(new Map(Object.entries(demands)), total));

test('every demand is met if there is enough', () => {
  expect(shares({ a: 50, b: 0, c: 30 }, 80)).toEqual({ a: 50, b: 0, c: 30 });
  expect(shares({}, 80)).toEqual({});
});

test('small demands are met in full, and the others share the rest equally', () => {
  expect(shares({ greedy: 1_000_000, a: 10, b: 40, alike: 1000 }, 100)).toEqual({
    greedy: 30,
    a: 10,
    b: 30,
    alike: 30,
  });
});

test('without a rest, every share is zero', () => {
  expect(shares({ a: 1, b: 2 }, 0)).toEqual({ a: 0, b: 0 });
});
