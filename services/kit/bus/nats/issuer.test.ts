import { createAccount, fromPublic } from '@nats-io/nkeys';
import { expect, it } from 'vitest';
import { Secret } from '../../../contracts/secret.ts';
import { Issuer } from './issuer.ts';

const word = Buffer.from('a word');

it('signs as NATS does, with any seed', () => {
  for (let i = 0; i < 20; i++) {
    const account = createAccount();
    const issuer = new Issuer(new Secret(Buffer.from(account.getSeed()).toString()));
    expect(issuer.publicKey).toBe(account.getPublicKey());
    expect(fromPublic(issuer.publicKey).verify(word, issuer.sign(word))).toBe(true);
    expect(issuer.hasSigned(word, account.sign(word))).toBe(true);
  }
});

it('rejects a signature over another text', () => {
  const issuer = new Issuer(new Secret(Buffer.from(createAccount().getSeed()).toString()));
  expect(issuer.hasSigned(Buffer.from('another'), issuer.sign(word))).toBe(false);
  expect(issuer.hasSigned(word, createAccount().sign(word))).toBe(false);
  for (const broken of ['', 'x', 'x'.repeat(64)]) expect(issuer.hasSigned(word, Buffer.from(broken))).toBe(false);
});
