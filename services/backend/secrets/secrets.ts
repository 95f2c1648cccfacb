import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { SvcError } from '../../contracts/errors.ts';
import { Secret } from '../../contracts/secret.ts';

/** Everything that is done with ENCRYPTION_KEY. What leaves here carries the id of the key it was made with, so that rotation can overlap. */
export interface Secrets {
  /** What tells the keys given apart without saying anything about them: the present one first, then the previous one. */
  readonly fingerprints: readonly string[];
  /** A text that only the same place can be decrypted from. */
  encrypt(plaintext: Secret, place: Place): string;
  /** Throws `unavailable` where the key of the text is not given, `internal` where the text was changed or moved. */
  decrypt(text: string, place: Place): Secret;
  /** What a key is stored and found by. */
  digest(key: Secret): string;
  /** What a stored key may be found by: one digest for each encryption key given, the present one first. */
  digests(key: Secret): readonly string[];
  /** What only this platform can say of a text, so that nobody else makes one up. */
  sign(text: string): string;
  /** Is it what `sign` said of this very text, with one of the keys given? */
  isSigned(text: string, signature: string): boolean;
  /** Equal for equal values, and useless for anything else; it may be shown. */
  fingerprint(value: Secret): string;
}

/** Where a ciphertext is kept. It is its associated data: copied to another node or field, it does not decrypt. */
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

/** Keys for one purpose each: what is learnt about one says nothing about another. */
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

/** Takes as long whichever letter differs. */
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
  if (nonce.length !== nonceBytes || body.length < tagBytes) throw unreadable(place, 'it is cut short');
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

/** Ids and field names hold no zero byte, so that no two places share their associated data. */
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
