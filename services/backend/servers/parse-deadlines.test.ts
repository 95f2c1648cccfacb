import { expect, test } from 'vitest';
import { noDeadlines, parseDeadlines } from './parse-deadlines.ts';

const before = { startTimeout: 90, callTimeout: 300 };

test('an absent deadline stays, a number replaces it, and 0 stands for the setting of the platform', () => {
  expect(parseDeadlines({}, noDeadlines)).toEqual(noDeadlines);
  expect(parseDeadlines({ startTimeout: null }, before)).toEqual(before);
  expect(parseDeadlines({ startTimeout: 1, callTimeout: 1800 }, before)).toEqual({
    startTimeout: 1,
    callTimeout: 1800,
  });
  expect(parseDeadlines({ callTimeout: 0 }, before)).toEqual({ startTimeout: 90, callTimeout: null });
});

test.each([-1, 1801, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('%s is refused with the rule', (given) => {
  expect(() => parseDeadlines({ callTimeout: given }, before)).toThrow(
    `"callTimeout" is ${given}: it must be a number of seconds from 1 to 1800, or 0 for the setting of the platform.`,
  );
  expect(() => parseDeadlines({ startTimeout: given }, before)).toThrow(/"startTimeout" is/);
});
