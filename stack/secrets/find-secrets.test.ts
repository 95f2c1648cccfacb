import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { openSecretFinder } from './find-secrets.ts';

const dir = folderOfEachTest();
const key = '0f9e8d7c6b5a49382716051423324150aabbccddeeff00112233445566778899';
const line = 'MC4CAQAwBQYDK2VwBCIEIHkzNzY1';

function open() {
  const secretsDir = join(dir(), 'secrets');
  mkdirSync(secretsDir);
  writeFileSync(join(secretsDir, '.gitignore'), '*\n');
  writeFileSync(join(secretsDir, 'encryption.key'), `${key}\n`);
  writeFileSync(
    join(secretsDir, 'jwt-private.pem'),
    `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----\n`,
  );
  writeFileSync(join(secretsDir, 'jwt-public.pem'), '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END-----\n');
  writeFileSync(join(secretsDir, 'mail.key'), 'a key/with+signs "and" spaces');
  return openSecretFinder({ secretsDir });
}

test.each([
  ['as it is', (text: string) => text],
  ['in a URL', encodeURIComponent],
  ['in JSON', (text: string) => JSON.stringify({ text })],
  ['in hexadecimal', (text: string) => Buffer.from(text).toString('hex')],
  ['in hexadecimal capitals', (text: string) => Buffer.from(text).toString('hex').toUpperCase()],
  ['in base64', (text: string) => Buffer.from(text).toString('base64')],
  ['in base64 within another text', (text: string) => Buffer.from(`Bearer ${text}!`).toString('base64')],
  ['in base64url within another text', (text: string) => Buffer.from(`ab${text}?`).toString('base64url')],
])('a secret is found and replaced %s', (_, encode) => {
  const secrets = open();
  for (const [name, value] of [
    ['encryption.key', key],
    ['jwt-private.pem', line],
    ['mail.key', 'a key/with+signs "and" spaces'],
  ] as const) {
    const text = `before ${encode(value)} after`;
    expect(secrets.find(text)).toEqual([name]);
    const cleaned = secrets.without(text);
    expect(cleaned).toContain(`[secret ${name}]`);
    expect(secrets.find(cleaned)).toEqual([]);
  }
});

test('public halves and other texts stay', () => {
  const secrets = open();
  const text = `MCowBQYDK2VwAyEA ${key.slice(1)} *`;
  expect([secrets.find(text), secrets.without(text)]).toEqual([[], text]);
});
