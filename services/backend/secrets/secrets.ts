import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { SvcError } from '../../contracts/errors.ts';
import { Secret } from '../../contracts/secret.ts';

/** All operations with ENCRYPTION_KEY. Every result carries the id of its key, so that rotation can overlap. */
export interface Secrets {
  /** Identify the given keys without revealing them: the current one first, then the previous one. */
  readonly fingerprints: readonly string[];
  /** Encrypts a text that can only be decrypted at the same place. */
  encrypt(plaintext: Secret, place: Place): string;
  /** Throws `unavailable` when the text's key is not given, `internal` when the text was changed or moved. */
  decrypt(text: string, place: Place): Secret;
  /** The digest under which a key is stored and found. */
  digest(key: Secret): string;
  /** The digests under which a stored key may be found: one for each given encryption key, the current one first. */
  digests(key: Secret): readonly string[];
  /** A signature that only this platform can make. */
  sign(text: string): string;
  /** Whether `sign` made the signature for this text, with one of the given keys. */
  isSigned(text: string, signature: string): boolean;
  /** Equal for equal values and reveals nothing else; it may be shown. */
  fingerprint(value: Secret): string;
}

/** The place of a ciphertext. It is the associated data: copied to another node or field, the text does not decrypt. */
export interface Place {
  readonly node: string;
  readonly field: string;
}

export function openSecrets(keys: { readonly present: Secret; readonly previous: Secret | undefined }): Secrets {
  const present = deriveKeys(keys.present);
  const ring = keys.previous === undefined ? [present] : [present, deriveKeys(keys.previous)];
  return {
    fingerprints: ring.map((key) => key.fingerprint),
    encrypt: (plaintext, place) => encrypt(present, plaintext, place),
    decrypt: (text, place) => decrypt(ring, text, place),
    digest: (key) => digest(present, key),
    digests: (key) => ring.map((derived) => digest(derived, key)),
    sign: (text) => sign(present, text),
    isSigned: (text, signature) => ring.some((key) => sameText(sign(key, text), signature)),
    fingerprint: (value) => createHmac('sha256', present.comparison).update(value.reveal()).digest('base64url'),
  };
}

/** One derived key for each purpose, so that a leak of one does not affect another. */
interface DerivedKeys {
  readonly id: string;
  readonly fingerprint: string;
  readonly data: Buffer;
  readonly lookup: Buffer;
  readonly comparison: Buffer;
  readonly signature: Buffer;
}

const format = 'v1';
const nonceBytes = 12; // NIST SP 800-38D §8.2.2: random nonces of 96 bits, at most 2^32 texts under one key
const tagBytes = 16;
const fingerprintBytes = 16;
const idLength = 8;

function deriveKeys(encryptionKey: Secret): DerivedKeys {
  const input = Buffer.from(encryptionKey.reveal(), 'hex');
  // RFC 5869: no salt, because the input is uniformly random; `info` separates the purposes.
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', input, '', `svc ${format} ${purpose}`, bytes));
  const fingerprint = derive('check value', fingerprintBytes).toString('hex');
  return {
    id: fingerprint.slice(0, idLength),
    fingerprint,
    data: derive('data encryption', 32),
    lookup: derive('key lookup', 32),
    comparison: derive('comparison', 32),
    signature: derive('signature', 32),
  };
}

function digest(key: DerivedKeys, value: Secret): string {
  return `${key.id}.${createHmac('sha256', key.lookup).update(value.reveal()).digest('base64url')}`;
}

function sign(key: DerivedKeys, text: string): string {
  return `${key.id}.${createHmac('sha256', key.signature).update(text).digest('base64url')}`;
}

/** Compares in constant time. */
function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function encrypt(key: DerivedKeys, plaintext: Secret, place: Place): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key.data, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(key, place));
  const body = Buffer.concat([cipher.update(plaintext.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${format}.${key.id}.${nonce.toString('base64url')}.${body.toString('base64url')}`;
}

function decrypt(ring: readonly DerivedKeys[], text: string, place: Place): Secret {
  const [version, id, nonceText, bodyText, ...rest] = text.split('.');
  if (version !== format || nonceText === undefined || bodyText === undefined || rest.length > 0) {
    throw unreadable(place, 'it is not a ciphertext');
  }
  const key = ring.find((candidate) => candidate.id === id);
  if (key === undefined) {
    throw new SvcError('unavailable', `${at(place)} is encrypted with a key that is not given (key id "${id}").`, {
      hint: 'Set ENCRYPTION_KEY_PREVIOUS to the key it was encrypted with.',
    });
  }
  const nonce = Buffer.from(nonceText, 'base64url');
  const body = Buffer.from(bodyText, 'base64url');
  if (nonce.length !== nonceBytes || body.length < tagBytes) throw unreadable(place, 'it is truncated');
  const decipher = createDecipheriv('aes-256-gcm', key.data, nonce, { authTagLength: tagBytes });
  decipher.setAAD(associatedData(key, place));
  decipher.setAuthTag(body.subarray(-tagBytes));
  try {
    const plaintext = Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()]);
    return new Secret(plaintext.toString('utf8'));
  } catch (error) {
    throw unreadable(place, 'it was changed, or belongs to another node or field', error);
  }
}

/** Ids and field names contain no zero byte, so that no two places share their associated data. */
function associatedData(key: DerivedKeys, { node, field }: Place): Buffer {
  return Buffer.from([format, key.id, node, field].join('\0'), 'utf8');
}

function at({ node, field }: Place): string {
  return `The field "${field}" of ${node}`;
}

function unreadable(place: Place, why: string, cause?: unknown): SvcError {
  return new SvcError('internal', `${at(place)} cannot be decrypted: ${why}.`, { cause });
}

export interface WithSecrets {
  readonly secrets: Secrets;
}
