import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

test('the results are in the order of the items, and never more than eight are under way', async () => {
  let underWay = 0;
  let most = 0;
  const items = Array.from({ length: 100 }, (_, i) => i);
  const results = await inParallel(items, async (item) => {
    most = Math.max(most, ++underWay);
    for (let turns = item % 5; turns > 0; turns--) await turn();
    underWay--;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(8);
});

test('after a failure, the work under way finishes and no other begins', async () => {
  const begun: number[] = [];
  const finished: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    if (item === 3) throw new Error('the third');
    await turn();
    finished.push(item);
  };
  await expect(
    inParallel(
      Array.from({ length: 50 }, (_, i) => i),
      work,
    ),
  ).rejects.toThrow('the third');
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(finished).toEqual([0, 1, 2, 4, 5, 6, 7]);
});
