import { expect, test } from 'vitest';
import { momentOf } from './key-expiry.ts';

const now = new Date(2026, 5, 10, 12).getTime();
const dayMs = 24 * 60 * 60 * 1000;

test('a key without expiry never expires, and a lifetime begins now', () => {
  expect(momentOf({ kind: 'never', day: '' }, now)).toBe(null);
  expect(momentOf({ kind: '90', day: '2020-01-01' }, now)).toBe(now + 90 * dayMs);
});

test('a chosen day counts to its end in the time zone of the person', () => {
  expect(momentOf({ kind: 'day', day: '2026-06-10' }, now)).toBe(new Date(2026, 5, 11).getTime());
  expect(momentOf({ kind: 'day', day: '2026-12-31' }, now)).toBe(new Date(2027, 0, 1).getTime());
});

test.each(['', '2026-06-09', '2026', 'x-y-z'])('the day "%s" is none that a key can expire on', (day) => {
  expect(momentOf({ kind: 'day', day }, now)).toBe(undefined);
});
