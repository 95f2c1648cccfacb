import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import { type Assigned, assignments, type HandshakeRequest } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';

/** The key pair of this process: only it can read texts sealed to it, and the key is never stored. */
export interface OwnKey {
  readonly publicKey: HandshakeRequest['publicKey'];
  open(sealed: string): Promise<readonly Assigned[]>;
}

export async function createOwnKey(): Promise<OwnKey> {
  const { publicKey, privateKey } = await generateKeyPair(keyManagement, { crv: 'X25519' });
  const { x } = await exportJWK(publicKey);
  return {
    publicKey: { kty: 'OKP', crv: 'X25519', x: x ?? '' },
    async open(sealed) {
      const { plaintext } = await compactDecrypt(sealed, privateKey, {
        keyManagementAlgorithms: [keyManagement],
        contentEncryptionAlgorithms: ['A256GCM'],
      }).catch((cause: unknown) => {
        throw new SvcError('invalid_input', 'The assignments were not sealed to this process.', { cause });
      });
      return assignments.parse(JSON.parse(new TextDecoder().decode(plaintext)));
    },
  };
}

/** RFC 7518, section 4.6, over X25519 (RFC 8037). */
const keyManagement = 'ECDH-ES+A256KW';
