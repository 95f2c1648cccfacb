import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** Faults of an authenticator or a browser that tests produce. */
export interface Faults {
  readonly origin?: string;
  readonly rpId?: string;
  readonly isUserVerified?: boolean;
  readonly counter?: number;
  readonly type?: string;
}

interface Asked {
  readonly challenge: string;
}

/** An authenticator in software, with one passkey (ES256), behind a browser at `origin`. */
export class Authenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  readonly #rpId: string;
  readonly id: string;
  userHandle = '';
  counter = 0;

  constructor({
    origin = 'http://localhost:8888',
    rpId = 'localhost',
    id = randomBytes(32).toString('base64url'),
  } = {}) {
    this.#origin = origin;
    this.#rpId = rpId;
    this.id = id;
  }

  /** WebAuthn Level 3 §6.3.2, without attestation. */
  register(options: Asked & { readonly user: { readonly id: string } }, faults: Faults = {}) {
    this.userHandle = options.user.id;
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const authData = this.#authenticatorData(faults, 0x40, attested);
    const attestationObject = map([
      [text('fmt'), text('none')],
      [text('attStmt'), map([])],
      [text('authData'), bytes(authData)],
    ]);
    const clientDataJSON = this.#clientData('webauthn.create', options, faults).toString('base64url');
    const response = {
      clientDataJSON,
      attestationObject: attestationObject.toString('base64url'),
      transports: ['usb'],
    };
    return { ...this.#common(), response };
  }

  /** WebAuthn Level 3 §6.3.3. */
  sign(options: Asked, faults: Faults = {}) {
    const authenticatorData = this.#authenticatorData(faults, 0, Buffer.alloc(0));
    const clientData = this.#clientData('webauthn.get', options, faults);
    const signed = createSign('sha256').update(authenticatorData).update(sha256(clientData));
    const response = {
      authenticatorData: authenticatorData.toString('base64url'),
      clientDataJSON: clientData.toString('base64url'),
      signature: signed.sign(this.#keys.privateKey).toString('base64url'),
      userHandle: this.userHandle === '' ? null : this.userHandle,
    };
    return { ...this.#common(), response };
  }

  #common() {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} };
  }

  /** §5.8.1 */
  #clientData(type: string, { challenge }: Asked, faults: Faults): Buffer {
    const data = { type: faults.type ?? type, challenge, origin: faults.origin ?? this.#origin, crossOrigin: false };
    return Buffer.from(JSON.stringify(data));
  }

  /** §6.1: user present is bit 0, user verified is bit 2. */
  #authenticatorData({ rpId, isUserVerified = true, counter }: Faults, flags: number, attested: Buffer): Buffer {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags | 0x01 | (isUserVerified ? 0x04 : 0));
    head.writeUInt32BE(counter ?? this.counter, 1);
    return Buffer.concat([sha256(Buffer.from(rpId ?? this.#rpId)), head, attested]);
  }

  /** RFC 9053 §7.1.1: an EC2 key of ES256 on P-256. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return map([
      [integer(1), integer(2)],
      [integer(3), integer(-7)],
      [integer(-1), integer(1)],
      [integer(-2), bytes(Buffer.from(x, 'base64url'))],
      [integer(-3), bytes(Buffer.from(y, 'base64url'))],
    ]);
  }
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** CBOR (RFC 8949 §3): the type and a length or value below 65536. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

function integer(value: number): Buffer {
  return value < 0 ? head(1, -1 - value) : head(0, value);
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([head(2, value.length), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([head(3, value.length), Buffer.from(value)]);
}

function map(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([head(5, entries.length), ...entries.flat()]);
}
