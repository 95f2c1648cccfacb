import { expect, test } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import { openSecrets } from './secrets.ts';
import { readSignedText, signText } from './signed-text.ts';

const backend = { secrets: openSecrets({ present: new Secret('ab'.repeat(32)), previous: undefined }) };

test.each(['lnk_1', 'ses_1.7', 'eyJhIjoxfQ'])('gives back %s that was signed', (text) => {
  expect(readSignedText(backend, 'invitation', signText(backend, 'invitation', text))).toBe(text);
});

test('refuses a signature for another purpose, for another text, and none', () => {
  const signed = signText(backend, 'sign-in link', 'lnk_1');
  for (const wrong of [signed.replace('lnk_1', 'lnk_2'), signed.slice(0, -1), 'lnk_1', '', '.', `x.${signed}`]) {
    expect([wrong, readSignedText(backend, 'sign-in link', wrong)]).toEqual([wrong, null]);
  }
  expect(readSignedText(backend, 'invitation', signed)).toBe(null);
});
