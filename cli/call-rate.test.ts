import { expect, test } from 'vitest';
import { CallRates } from './call-rate.ts';

const sum = (at: number, calls: number, errors = 0, hour = 0) => ({ at, hour, calls, errors });

test('a rate is known from the second sum on, and covers ten seconds at most', () => {
  const rates = new CallRates();
  expect(rates.add(sum(0, 100))).toBeNull();
  expect(rates.add(sum(2000, 120, 2))).toEqual({ callsPerSecond: 10, errorsPerSecond: 1 });
  expect(rates.add(sum(11_000, 210, 2))).toEqual({ callsPerSecond: 10, errorsPerSecond: 0 });
});

test('a new hour begins a new sum', () => {
  const rates = new CallRates();
  rates.add(sum(0, 100));
  expect(rates.add(sum(1000, 5, 0, 3_600_000))).toBeNull();
  expect(rates.add(sum(2000, 9, 0, 3_600_000))).toEqual({ callsPerSecond: 4, errorsPerSecond: 0 });
});
