import { CompactEncrypt, importJWK } from 'jose';
import type { Assigned, HandshakeRequest } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';

/**
 * Seals assignments so that only the process with the public key can read them. The form is a compact JWE (RFC 7516) by
 * ECDH-ES+A256KW (RFC 7518 §4.6) over X25519 (RFC 8037). The process never stores its private key, so that recorded bus
 * traffic cannot be opened later.
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
