import { expect, test } from 'vitest';
import { SvcError } from './errors.ts';
import { inWords, inWordsAlone, systemWords } from './system-words.ts';

const refused = (code: string, message = `${code}: as the system says it, open '/x'`) =>
  Object.assign(new Error(message), { code });

test.each([
  ['ENOSPC', 'no space is left on the disk'],
  ['EACCES', 'permission denied'],
  ['EADDRINUSE', 'another program uses that port'],
  ['ECONNREFUSED', 'connection refused'],
])('%s is explained', (code, words) => {
  expect(systemWords(refused(code))).toBe(words);
  // As fetch throws it.
  expect(systemWords(new TypeError('fetch failed', { cause: refused(code) }))).toBe(words);
});

test('an error with its own message keeps it, whatever its cause', () => {
  const error = new SvcError('unavailable', 'The bus cannot be reached.', { cause: refused('ECONNREFUSED') });
  expect([systemWords(error), inWords(error)]).toEqual([null, 'The bus cannot be reached.']);
  expect([systemWords(new Error('a bug')), inWords(new Error('a bug')), inWords('text')]).toEqual([
    null,
    'a bug',
    'text',
  ]);
});

test('without a context it names the file or address, if the system names one', () => {
  const refusedAt = (code: string, at: object) => Object.assign(refused(code), at);
  const missing = refusedAt('ENOENT', { path: '/x/ca.pem' });
  const silent = refusedAt('ECONNREFUSED', { address: '127.0.0.1', port: 4222 });
  const unknown = refusedAt('ENOTFOUND', { hostname: 'graph.example' });
  expect([missing, new TypeError('fetch failed', { cause: silent }), unknown].map(inWordsAlone)).toEqual([
    '"/x/ca.pem": it does not exist',
    '"127.0.0.1:4222": connection refused',
    '"graph.example": its name cannot be resolved',
  ]);
  const told = new SvcError('unavailable', 'The bus cannot be reached.', { cause: silent });
  expect([refused('ENOSPC'), told, new Error('a bug'), 'text'].map(inWordsAlone)).toEqual([
    'no space is left on the disk',
    'The bus cannot be reached.',
    'a bug',
    'text',
  ]);
});
