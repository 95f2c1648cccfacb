import { expect, it } from 'vitest';
import { type ErrorCode, errorCodes, SvcError } from '../../contracts/errors.ts';
import { errorToHttp } from './error-to-http.ts';

const expected: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  timeout: 504,
  unavailable: 503,
  unsupported: 501,
  cancelled: 499,
  internal: 500,
};

it.each(errorCodes)('%s has its status, code, message and hint', (code) => {
  const error = new SvcError(code, 'What failed.', { hint: 'Mend it.', cause: new Error('inside') });
  expect(errorToHttp(error)).toEqual({
    status: expected[code],
    body: { error: { code, message: 'What failed.', hint: 'Mend it.' } },
  });
});

it('an error without a hint has none in its body', () => {
  expect(errorToHttp(new SvcError('conflict', 'a')).body.error).not.toHaveProperty('hint');
});
