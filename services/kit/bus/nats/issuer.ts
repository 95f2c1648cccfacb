import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { fromSeed } from '@nats-io/nkeys';
import type { Secret } from '../../../contracts/secret.ts';

/**
 * Signs admissions with Node's crypto: each client costs two signatures, which take a hundred times as long in plain
 * JavaScript. After a restart of NATS all clients come at once.
 */
export class Issuer {
  /** In NATS's notation. */
  readonly publicKey: string;
  /** Backends derive process ids with it. */
  readonly processKey: KeyObject;
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(seed: Secret) {
    const text = seed.reveal();
    this.publicKey = fromSeed(Buffer.from(text)).getPublicKey();
    const own = fromBase32(text).subarray(kindBytes, kindBytes + keyBytes);
    const der = Buffer.concat([ed25519Head, own]);
    this.#private = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.#public = createPublicKey(this.#private);
    this.processKey = createSecretKey(createHmac('sha256', own).update('process ids').digest());
  }

  sign(bytes: Uint8Array): Buffer {
    return sign(null, bytes, this.#private);
  }

  hasSigned(bytes: Uint8Array, signature: Uint8Array): boolean {
    return verify(null, bytes, this.#public, signature);
  }
}

/** The PKCS #8 prefix of the key (RFC 8410 §7). */
const ed25519Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A seed of NATS holds its kind, the key and a checksum, in base 32 (RFC 4648 §6). */
const kindBytes = 2;
const keyBytes = 32;
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function fromBase32(text: string): Buffer {
  const bits = [...text].map((digit) => digits.indexOf(digit).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
