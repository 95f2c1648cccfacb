import { expect, test } from 'vitest';
import { typedAddresses } from './typed-addresses.ts';

test.each([
  ['', []],
  [' \n ', []],
  ['ann@example.com', ['ann@example.com']],
  [
    'ann@example.com, bob@example.com;eve@example.com\nzoe@example.com',
    ['ann@example.com', 'bob@example.com', 'eve@example.com', 'zoe@example.com'],
  ],
  ['Ann@Example.com ann@example.com', ['ann@example.com']],
  ['Ann Lee <ann@example.com>, "Bob" <bob@example.com>', ['ann@example.com', 'bob@example.com']],
  ['ann', ['ann']],
])('%j holds these addresses', (text, expected) => {
  expect(typedAddresses(text)).toEqual(expected);
});
