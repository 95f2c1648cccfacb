import { describe, expect, test } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import { Passwords } from './passwords.ts';

const cheap = { ln: 4, r: 8, p: 1 };
const dear = { ln: 5, r: 8, p: 1 };
const secret = (text: string) => new Secret(text);
const hash = (passwords: Passwords, text: string) => passwords.hash(secret(text), 'a');

describe('a stored password', () => {
  test('is right for its own text only', async () => {
    const passwords = new Passwords(cheap);
    const stored = await hash(passwords, 'correct horse');
    const verify = (text: string) => passwords.verify(secret(text), stored, 'a');
    expect(await verify('correct horse')).toBe('right');
    for (const text of ['', 'correct hors', 'correct horse ', 'Correct horse'])
      expect(await verify(text)).toBe('wrong');
  });

  test('contains its cost and a new salt, and no password', async () => {
    const passwords = new Passwords(cheap);
    const [one, other] = [await hash(passwords, 'correct horse'), await hash(passwords, 'correct horse')];
    expect(one).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(other);
  });

  test('is right in either form of a character', async () => {
    const passwords = new Passwords(cheap);
    const stored = await hash(passwords, 'caf\u00e9 caf\u00e9 x');
    expect(await passwords.verify(secret('cafe\u0301 cafe\u0301 x'), stored, 'a')).toBe('right');
  });

  test('of another cost is right, and weak', async () => {
    const stored = await hash(new Passwords(cheap), 'correct horse');
    const now = new Passwords(dear);
    expect(await now.verify(secret('correct horse'), stored, 'a')).toBe('weak');
    expect(await now.verify(secret('wrong horse!'), stored, 'a')).toBe('wrong');
  });

  test.each([
    '',
    'plain',
    '$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$scrypt$ln=4,r=8,p=1$AAAA$AAAA',
  ])('that is none is refused: "%s"', async (stored) => {
    await expect(new Passwords(cheap).verify(secret('x'), stored, 'a')).rejects.toThrow('not readable');
  });

  test('of nobody is wrong, and takes as long as a known one', async () => {
    const passwords = new Passwords();
    const stored = await hash(passwords, 'correct horse');
    const timeOf = async (verified: string | null) => {
      const since = performance.now();
      expect(await passwords.verify(secret('wrong horse!'), verified, 'a')).toBe('wrong');
      return performance.now() - since;
    };
    const least = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    for (let i = 0; i < 3; i++) {
      least.known = Math.min(least.known, await timeOf(stored));
      least.unknown = Math.min(least.unknown, await timeOf(null));
    }
    expect(least.unknown / least.known).toBeGreaterThan(0.5);
    expect(least.unknown / least.known).toBeLessThan(2);
  });
});
