import { expect, test } from 'vitest';
import { describeClocks, refusedValidity, timeOfDate } from './clocks.ts';

const noon = Date.parse('2026-11-26T12:00:00Z');
const minuteMs = 60_000;

test.each([
  [0, null],
  [119_000, null],
  [-119_000, null],
  [2 * minuteMs, '2 minutes ahead of'],
  [-10 * minuteMs, '10 minutes behind'],
  [119 * minuteMs, '119 minutes ahead of'],
  [-120 * minuteMs, '2 hours behind'],
  [3 * 24 * 60 * minuteMs, '3 days ahead of'],
])('a clock that differs by %d ms is described as %s', (differenceMs, told) => {
  const said = describeClocks({ hereMs: noon + differenceMs, thereMs: noon, whose: "the platform's" });
  if (told === null) expect(said).toBeNull();
  else expect(said).toContain(`The clock of this machine is ${told} the platform's: here it is 2026-11-`);
});

test('both times are in the sentence', () => {
  expect(describeClocks({ hereMs: noon, thereMs: noon + 5 * minuteMs, whose: "the backend's" })).toBe(
    "The clock of this machine is 5 minutes behind the backend's: here it is 2026-11-26T12:00:00Z, there 2026-11-26T12:05:00Z.",
  );
});

test('the dates of a certificate are compared with the clock', () => {
  const validity = { fromMs: noon, toMs: noon + 60 * minuteMs };
  expect(refusedValidity(validity, noon + minuteMs)).toBeNull();
  expect(refusedValidity(validity, noon - minuteMs)).toBe(
    'is not valid before 2026-11-26T12:00:00Z, and the clock of this machine says 2026-11-26T11:59:00Z',
  );
  expect(refusedValidity(validity, noon + 61 * minuteMs)).toBe(
    'expired at 2026-11-26T13:00:00Z, and the clock of this machine says 2026-11-26T13:01:00Z',
  );
});

test.each([
  ['Thu, 26 Nov 2026 12:00:00 GMT', noon],
  ['soon', null],
  [undefined, null],
  [['a', 'b'], null],
])('the Date header %j is the time %s', (header, time) => {
  expect(timeOfDate(header)).toBe(time);
});
