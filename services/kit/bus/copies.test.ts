import { expect, it } from 'vitest';
import { headersMaxLength } from './bus.ts';
import { areHeaders } from './copies.ts';

it.each([{}, { a: '' }, { a: 'ä b', 'svc-kind': 'result' }, { a: 'v'.repeat(headersMaxLength - 1) }])(
  'headers of our own client are accepted: %j',
  (headers) => {
    expect(areHeaders(headers)).toBe(true);
  },
);

it.each([
  ...[null, 7, 'text', [], ['a'], { a: 7 }, { a: null }, { a: {} }, { a: 'one\ntwo' }, { a: 'one\rtwo' }],
  { a: 'v'.repeat(headersMaxLength) },
])('other headers are refused: %j', (headers) => {
  expect(areHeaders(headers)).toBe(false);
});
