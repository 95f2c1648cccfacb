import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { parseAddressBlock } from '../../contracts/address-block.ts';
import { frontProofHeader, frontProofText } from '../../contracts/front-proof.ts';
import { Secret } from '../../contracts/secret.ts';
import { createNetworkOfClient } from './network-of-client.ts';

const key = 'ab'.repeat(32);
const proofOf = (of: string) => createHmac('sha256', of).update(frontProofText).digest('hex');
const proof = proofOf(key);
const [own] = [parseAddressBlock('10.0.0.0/8')].filter((block) => block !== null);

/** The network of a client that the sender of a request names. The sender has an address of this machine. */
function networkNamed(shown: string | undefined, forwarded = '192.0.2.1'): string {
  const network = createNetworkOfClient({
    config: { ENCRYPTION_KEY: new Secret(key), TRUSTED_PROXIES: own === undefined ? [] : [own] },
  });
  const headers = { 'x-forwarded-for': forwarded, ...(shown === undefined ? {} : { [frontProofHeader]: shown }) };
  const raw = { socket: { remoteAddress: '127.0.0.1' }, headers };
  return network({ raw } as unknown as FastifyRequest);
}

test("the platform's own proxy names its client, and a proxy of the operator before it another one", () => {
  expect(networkNamed(proof)).toBe('192.0.2.1');
  expect(networkNamed(proof, '2001:db8::1')).toBe('2001:db8:0:0::/64');
  expect(networkNamed(proof, '198.51.100.1, 192.0.2.1')).toBe('192.0.2.1');
  expect(networkNamed(proof, '192.0.2.1, 10.1.2.3')).toBe('192.0.2.1');
});

test.each([
  ['without a proof', undefined],
  ['with an empty one', ''],
  ['with a part of it', proof.slice(1)],
  ['with more', `${proof}, ${proof}`],
  ['in capitals', proof.toUpperCase()],
  ['of another installation', proofOf('cd'.repeat(32))],
  ['that is the text', frontProofText],
  ['that is the key', key],
  ['of other characters', 'é'.repeat(32)],
])('a program of the same machine names no client: %s', (_how, shown) => {
  expect(networkNamed(shown)).toBe('127.0.0.1');
});
