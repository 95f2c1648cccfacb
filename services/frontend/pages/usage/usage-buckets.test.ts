import { expect, test } from 'vitest';
import { findUsageRange } from '../../app/usage-range.ts';
import { bucketsOf, durationInWords, hoursOf, percentOf } from './usage-buckets.ts';

const hourMs = 60 * 60 * 1000;
const now = new Date(2026, 5, 20, 12, 34).getTime();
const { from, to } = hoursOf('24h', now);

test('a range ends with the hour that is under way', () => {
  expect(to).toBeGreaterThan(now);
  expect(to - now).toBeLessThanOrEqual(hourMs);
  expect(to - from).toBe(24 * hourMs);
});

test('every hour of a day is there, also one without calls', () => {
  const buckets = bucketsOf('24h', now, [
    { hour: from, calls: 3, errors: 1 },
    { hour: from - hourMs, calls: 100, errors: 100 },
    { hour: to, calls: 100, errors: 100 },
  ]);
  expect(buckets).toHaveLength(24);
  expect(buckets[0]).toEqual({ at: from, calls: 3, errors: 1 });
  expect(buckets[1]).toEqual({ at: from + hourMs, calls: 0, errors: 0 });
  expect(bucketsOf('7d', now, [])).toHaveLength(168);
});

test('a month is shown by days of the person', () => {
  const day = new Date(2026, 5, 18, 3).getTime();
  const buckets = bucketsOf('30d', now, [
    { hour: day, calls: 1, errors: 0 },
    { hour: day + hourMs, calls: 2, errors: 1 },
  ]);
  // The first day and today are parts.
  expect(buckets).toHaveLength(31);
  const midnight = new Date(2026, 5, 18).getTime();
  expect(buckets.filter(({ calls }) => calls > 0)).toEqual([{ at: midnight, calls: 3, errors: 1 }]);
});

test.each([
  [0.4, '0 ms'],
  [340, '340 ms'],
  [1249, '1.2 s'],
  [180_000, '3 min'],
])('%d milliseconds are %s', (ms, words) => expect(durationInWords(ms)).toBe(words));

test('a small part is not called none', () => {
  expect([percentOf(0, 5), percentOf(0, 0), percentOf(1, 1000), percentOf(1, 2)]).toEqual([
    '0 %',
    '0 %',
    '< 1 %',
    '50 %',
  ]);
});

test('only known ranges are found', () => {
  expect(['7d', '8d', 'toString', 7].map(findUsageRange)).toEqual(['7d', undefined, undefined, undefined]);
});
