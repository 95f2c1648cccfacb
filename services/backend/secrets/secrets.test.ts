import { describe, expect, test } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { Secret } from '../../contracts/secret.ts';
import { openSecrets } from './secrets.ts';

const keyA = new Secret('a1'.repeat(32));
const keyB = new Secret('b2'.repeat(32));
const secrets = openSecrets({ present: keyA, previous: undefined });
const place = { node: 'srv_1', field: 'launch' };
const plaintext = new Secret('{"env":{"TOKEN":"grüße"}}');

describe('encryption', () => {
  test('decrypts to the original, and never encrypts to the same text twice', () => {
    const first = secrets.encrypt(plaintext, place);
    const second = secrets.encrypt(plaintext, place);
    expect(first).not.toBe(second);
    expect(secrets.decrypt(first, place).reveal()).toBe(plaintext.reveal());
    expect(secrets.decrypt(second, place).reveal()).toBe(plaintext.reveal());
    expect(secrets.decrypt(secrets.encrypt(new Secret(''), place), place).reveal()).toBe('');
  });

  test('a ciphertext does not decrypt at another node or in another field', () => {
    const text = secrets.encrypt(plaintext, place);
    expect(() => secrets.decrypt(text, { ...place, node: 'srv_2' })).toThrow(/belongs to another node or field/);
    expect(() => secrets.decrypt(text, { ...place, field: 'other' })).toThrow(/belongs to another node or field/);
  });

  test('a change of any single byte is detected', () => {
    const [version, id, nonce = '', body = ''] = secrets.encrypt(plaintext, place).split('.');
    for (const [i, part] of [nonce, body].entries()) {
      const bytes = Buffer.from(part, 'base64url');
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        const text = changed.toString('base64url');
        const whole = [version, id, ...(i === 0 ? [text, body] : [nonce, text])].join('.');
        expect(() => secrets.decrypt(whole, place), `part ${i}, byte ${at}`).toThrow(/cannot be decrypted/);
      }
    }
  });

  test.each(['', 'v1', 'plain', 'v1.aaaaaaaa..', 'v1.a.b.c.d', '{"env":{}}'])('"%s" is not a ciphertext', (text) => {
    expect(() => secrets.decrypt(text, place)).toThrow(SvcError);
  });

  test('a truncated ciphertext is refused', () => {
    const parts = secrets.encrypt(plaintext, place).split('.');
    const cut = [...parts.slice(0, 3), (parts[3] ?? '').slice(0, 12)].join('.');
    expect(() => secrets.decrypt(cut, place)).toThrow(/truncated/);
  });

  test('the previous key still decrypts, the current one encrypts', () => {
    const before = secrets.encrypt(plaintext, place);
    const rotated = openSecrets({ present: keyB, previous: keyA });
    expect(rotated.decrypt(before, place).reveal()).toBe(plaintext.reveal());
    const after = rotated.encrypt(plaintext, place);
    expect(() => secrets.decrypt(after, place)).toThrow(/ENCRYPTION_KEY|key that is not given/);
  });

  test('a missing key is named by its id, with the repair', () => {
    const text = openSecrets({ present: keyB, previous: undefined }).encrypt(plaintext, place);
    expect(() => secrets.decrypt(text, place)).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: expect.stringContaining(text.split('.')[1] ?? 'no id'),
        hint: expect.stringContaining('ENCRYPTION_KEY_PREVIOUS'),
      }),
    );
  });
});

describe('digests', () => {
  const key = new Secret('USKexample');

  test('are equal for equal keys and carry the id of the encryption key', () => {
    expect(secrets.digest(key)).toBe(secrets.digest(new Secret('USKexample')));
    expect(secrets.digest(key)).not.toBe(secrets.digest(new Secret('USKexamplf')));
    const id = secrets.encrypt(plaintext, place).split('.')[1];
    expect(secrets.digest(key).split('.')[0]).toBe(id);
  });

  test('a key stored under the previous encryption key is still found', () => {
    const rotated = openSecrets({ present: keyB, previous: keyA });
    expect(rotated.digests(key)).toEqual([rotated.digest(key), secrets.digest(key)]);
    expect(secrets.digests(key)).toEqual([secrets.digest(key)]);
  });

  test('reveal nothing to a reader of a fingerprint of the same value', () => {
    expect(secrets.digest(key)).not.toContain(secrets.fingerprint(key));
    expect(secrets.fingerprint(key)).toBe(secrets.fingerprint(new Secret('USKexample')));
    expect(secrets.fingerprint(key)).not.toBe(secrets.fingerprint(plaintext));
  });
});

describe('signatures', () => {
  const signature = secrets.sign('text');

  test('belong to one text and one key', () => {
    expect(secrets.isSigned('text', signature)).toBe(true);
    expect(secrets.isSigned('texT', signature)).toBe(false);
    expect(openSecrets({ present: keyB, previous: undefined }).isSigned('text', signature)).toBe(false);
  });

  test.each(['', '.', signature.slice(0, -1), `${signature}A`, ` ${signature}`, signature.toLowerCase()])(
    '"%s" is not one',
    (other) => {
      expect(secrets.isSigned('text', other)).toBe(false);
    },
  );

  test('of the previous key are valid while it is given', () => {
    expect(openSecrets({ present: keyB, previous: keyA }).isSigned('text', signature)).toBe(true);
  });
});
