import { CompactEncrypt, importJWK } from 'jose';
import type { Assigned, HandshakeRequest } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';

/**
 * Assignments as only the process can read them that sent the public key: compact JWE (RFC 7516) by ECDH-ES+A256KW (RFC 7518 §4.6) over
 * X25519 (RFC 8037). Sealed to one process and never stored, so that nothing on the bus can be opened later.
 */
export async function seal(
  assignments: readonly Assigned[],
  publicKey: HandshakeRequest['publicKey'],
): Promise<string> {
  const plaintext = new TextEncoder().encode(JSON.stringify(assignments));
  try {
    const key = await importJWK(publicKey, 'ECDH-ES+A256KW');
    return await new CompactEncrypt(plaintext)
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' })
      .encrypt(key);
  } catch (cause) {
    throw new SvcError('invalid_input', 'The public key of the handshake is not a usable X25519 key.', { cause });
  }
}
