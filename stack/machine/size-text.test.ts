import { expect, test } from 'vitest';
import { sizeText } from './size-text.ts';

const mebibyte = 1024 * 1024;

test.each([
  [0, '0 KB'],
  [1, '1 KB'],
  [mebibyte - 1, '1024 KB'],
  [mebibyte, '1.0 MB'],
  [2.5 * mebibyte, '2.5 MB'],
  [229_212 * mebibyte, '223.8 GB'],
  [3 * 1024 * 1024 * mebibyte, '3.0 TB'],
  [5000 * 1024 * 1024 * mebibyte, '5000.0 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
