import { expect, test } from 'vitest';
import { judgeOldKey } from './key-rotation.ts';

const now = 10_000_000;
const judge = (lastUsedAt: number | null, firstUsedAt: number | null, lastUsedStepMs = 60_000) =>
  judgeOldKey({ key: { firstUsedAt }, old: { lastUsedAt, lastUsedStepMs } }, now);

test.each<[string, number | null, number | null, boolean, RegExp]>([
  ['was never used', null, null, true, /never used/],
  ['was used, and the new key was not', now - 3_600_000, null, false, /1 h ago, and the new key was not used yet/],
  ['was used after the new key', now - 200_000, now - 300_000, false, /3 min ago, after an agent first used/],
  ['was used at the same time', now - 300_000, now - 300_000, false, /after an agent first used/],
  ['was last used before the new key', now - 300_000, now - 200_000, true, /5 min ago, before an agent first used/],
  ['may have been used since its last record', now - 69_000, now - 60_000, false, /recorded in 1 s/],
  ['has no use that is unrecorded', now - 70_000, now - 60_000, true, /before/],
])('an old key that %s', (_what, lastUsedAt, firstUsedAt, isSafe, why) => {
  const verdict = judge(lastUsedAt, firstUsedAt);
  expect(verdict).toEqual({ isSafe, why: expect.stringMatching(why) });
});

test('the time between two records of a use counts', () => {
  expect(judge(now - 300_000, now - 200_000, 3_600_000).isSafe).toBe(false);
});
