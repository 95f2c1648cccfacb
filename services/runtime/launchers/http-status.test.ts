import { expect, test } from 'vitest';
import { isPassing, isSessionLost } from './http-status.ts';

test.each([408, 409, 425, 429, 500, 502, 503, 504])('HTTP %i is temporary', (status) => {
  expect(isPassing(status)).toBe(true);
});

test.each([101, 200, 204, 301, 400, 401, 403, 404, 405, 406, 410, 501])('HTTP %i is permanent', (status) => {
  expect(isPassing(status)).toBe(false);
});

test.each<[number, string, boolean]>([
  [404, '', true],
  [400, 'No valid session ID', true],
  [400, 'Parse error', false],
  [401, 'session expired', false],
  [503, 'session store is away', false],
])('HTTP %i "%s" means a lost session: %s', (status, said, isLost) => {
  expect(isSessionLost(status, said)).toBe(isLost);
});
