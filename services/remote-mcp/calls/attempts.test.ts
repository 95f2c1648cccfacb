import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { Attempts } from './attempts.ts';

const silenceMaxMs = 60_000;
const why = new SvcError('unavailable', 'Its process has gone.');

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('a call is made three times at most', () => {
  const attempts = new Attempts();
  expect([attempts.again(why), attempts.again(why), attempts.again(why)]).toEqual([true, true, false]);
});

test('all attempts together share the silence limit of one', () => {
  const attempts = new Attempts();
  vi.advanceTimersByTime(40_000);
  attempts.again(why);
  expect(attempts.silenceLeftMs(silenceMaxMs)).toBe(silenceMaxMs - 40_000);
  attempts.heard();
  vi.advanceTimersByTime(1000);
  expect(attempts.silenceLeftMs(silenceMaxMs)).toBe(silenceMaxMs - 1000);
  vi.advanceTimersByTime(silenceMaxMs);
  expect(attempts.silenceLeftMs(silenceMaxMs)).toBe(1);
});

test('progress continues from the previous attempt, and passes unchanged in the first', () => {
  const attempts = new Attempts();
  const told = (progress: readonly unknown[]) => progress.filter((one) => attempts.isNews(one));
  expect(told([1, 5, 3, 'x'])).toEqual([1, 5, 3, 'x']);
  attempts.again(why);
  expect(told([1, 5, 'x', 6])).toEqual([6]);
  attempts.again(why);
  expect(told([6, 6.5])).toEqual([6.5]);
});
