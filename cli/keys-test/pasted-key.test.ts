import { expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { pastedKey } from './pasted-key.ts';

const key = newKey('user').reveal();
const older = 'USK"of\'an-older`installation"';

test.each<[string, readonly string[]]>([
  [key, []],
  [`  ${key}\t\r\n\n`, []],
  [`\n${key}\nThis key is shown only once.`, []],
  [`"${key}"`, ['quotes']],
  [`'${key}'\n`, ['quotes']],
  [`“${key}”`, ['quotes']],
  [`Bearer ${key}`, ['"Bearer"']],
  [`bearer   ${key}`, ['"Bearer"']],
  [`"Bearer ${key}"`, ['quotes', '"Bearer"']],
  [`Authorization: Bearer ${key}`, ['"Authorization:"', '"Bearer"']],
  [`Authorization: "Bearer '${key}'"`, ['"Authorization:"', 'quotes', '"Bearer"']],
  [`export SVC_API_KEY="${key}"`, ['"SVC_API_KEY="', 'quotes']],
  [`\ufeff${key}\u200b`, ['invisible characters']],
  [`${key.slice(0, 20)}\n  ${key.slice(20)}\n`, ['line breaks']],
])('%j is the key', (given, leftOut) => {
  expect(pastedKey(given)).toEqual({ text: key, leftOut });
});

test('an older key keeps quotes that belong to it', () => {
  expect(pastedKey(older)).toEqual({ text: older, leftOut: [] });
  expect(pastedKey(`"${older}"`)).toEqual({ text: older, leftOut: ['quotes'] });
});

test.each([
  ['', ''],
  ['"', '"'],
  ['Bearer', ''],
  ['my key', 'my key'],
  [`${key.slice(0, 20)}\nsomething else`, key.slice(0, 20)],
  ['one\ntwo', 'one'],
])('%j stays what it is', (given, text) => {
  expect(pastedKey(given).text).toBe(text);
});
