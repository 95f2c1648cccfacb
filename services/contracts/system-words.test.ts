import { expect, test } from 'vitest';
import { SvcError } from './errors.ts';
import { inWords, systemWords } from './system-words.ts';

const refused = (code: string, message = `${code}: as the system says it, open '/x'`) =>
  Object.assign(new Error(message), { code });

test.each([
  ['ENOSPC', 'no room is left on the disk'],
  ['EACCES', 'this user may not do that'],
  ['EADDRINUSE', 'another program has that port'],
  ['ECONNREFUSED', 'nobody listens there'],
])('%s is told in words', (code, words) => {
  expect(systemWords(refused(code))).toBe(words);
  // As fetch throws it.
  expect(systemWords(new TypeError('fetch failed', { cause: refused(code) }))).toBe(words);
});

test('what has words of its own keeps them, whatever was behind it', () => {
  const error = new SvcError('unavailable', 'The bus cannot be reached.', { cause: refused('ECONNREFUSED') });
  expect([systemWords(error), inWords(error)]).toEqual([null, 'The bus cannot be reached.']);
  expect([systemWords(new Error('a bug')), inWords(new Error('a bug')), inWords('text')]).toEqual([
    null,
    'a bug',
    'text',
  ]);
});
