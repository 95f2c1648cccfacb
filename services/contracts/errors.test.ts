import { expect, it } from 'vitest';
import { errorCodes, isErrorCode, SvcError, toSvcError } from './errors.ts';

it('an expected error has a code, message and hint, and does not show its cause', () => {
  const cause = new Error('inside');
  const error = new SvcError('conflict', 'The name "a" is taken.', { hint: 'Choose another.', cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'SvcError', code: 'conflict', message: 'The name "a" is taken.' });
  expect(error.hint).toBe('Choose another.');
  expect(error.cause).toBe(cause);
  expect(JSON.stringify(error)).not.toContain('inside');
  expect(new SvcError('conflict', 'a')).not.toHaveProperty('cause');
});

it('the codes are these and no other', () => {
  expect(errorCodes).toEqual([
    'invalid_input',
    'unauthenticated',
    'forbidden',
    'not_found',
    'conflict',
    'too_large',
    'rate_limited',
    'timeout',
    'unavailable',
    'unsupported',
    'cancelled',
    'internal',
  ]);
  for (const code of errorCodes) expect(isErrorCode(code)).toBe(true);
  for (const other of ['', 'toString', 'Internal', 404, null, undefined, {}]) expect(isErrorCode(other)).toBe(false);
});

it('an expected error stays unchanged', () => {
  const error = new SvcError('not_found', 'a');
  expect(toSvcError(error)).toBe(error);
});

it('an aborted wait is cancelled, not a bug', () => {
  const { signal } = new AbortController();
  const reason = AbortSignal.abort().reason;
  expect(signal.aborted).toBe(false);
  expect(toSvcError(reason)).toMatchObject({ code: 'cancelled', cause: reason });
});

it.each([new TypeError('secret detail'), 'secret detail', undefined, null, { message: 'secret detail' }])(
  'the bug %j becomes internal, and its text is not shown',
  (thrown) => {
    const error = toSvcError(thrown);
    expect(error.code).toBe('internal');
    expect(error.message).not.toContain('secret detail');
    expect(error.cause).toBe(thrown);
  },
);
