import { expect, test } from 'vitest';
import { findChallenge } from './challenge.ts';

const metadata = 'https://crm.example/.well-known/oauth-protected-resource/mcp';

test.each([
  ['quoted', `Bearer resource_metadata="${metadata}", scope="a b"`],
  [
    'in another order, with other parameters',
    `Bearer realm="x", scope="a b", error="invalid_token", resource_metadata="${metadata}"`,
  ],
  ['with other letters and spaces', `bearer  Resource_Metadata = "${metadata}" , SCOPE="a b"`],
  ['behind another scheme', `Basic realm="x", Bearer resource_metadata="${metadata}", scope="a b"`],
  ['with escaped characters', `Bearer resource_metadata="${metadata.replace('crm', '\\c\\r\\m')}", scope="a b"`],
])('the claims of a challenge, %s', (_how, header) => {
  expect(findChallenge(header)).toEqual({ resourceMetadata: metadata, scope: 'a b' });
});

test('a value without quotes', () => {
  expect(findChallenge(`Bearer scope=files:read,resource_metadata=${metadata}`)).toEqual({
    ...{ resourceMetadata: metadata, scope: 'files:read' },
  });
});

test.each([
  ['no header', undefined],
  ['no scheme Bearer', 'Basic realm="x"'],
  ['no parameters', 'Bearer'],
  ['a parameter of a similar name', 'Bearer x_scope="a", my-scopes="b"'],
  ['a value that is not closed', 'Bearer scope="a b'],
  ['an empty value', 'Bearer scope=""'],
  ['a value that is too long', `Bearer scope="${'x'.repeat(2049)}"`],
  ['a header that is too long', `Bearer scope="a", realm="${'x'.repeat(8192)}"`],
  ['characters that are not visible', 'Bearer scope="a\u0000b", resource_metadata="https://\u202e.example"'],
])('nothing is claimed by %s', (_what, header) => {
  expect(findChallenge(header)).toEqual({});
});

test('a hostile header takes no time', () => {
  const before = performance.now();
  for (const piece of ['scope="', 'a=', ',bearer ', 'x="\\"', ' ', 'a ']) {
    findChallenge(`Bearer ${piece.repeat(8000)}`.slice(0, 8192));
  }
  expect(performance.now() - before).toBeLessThan(1000);
});
