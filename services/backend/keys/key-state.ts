import type { Node } from '../graph/graph.ts';

/** Architecture §7, "API key". A revoked key stays revoked after it has expired. */
export const keyStates = ['valid', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

export function stateOfKey(key: Pick<Node<'key'>, 'expiresAt' | 'revokedAt'>, now: number): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  return isPast(key.expiresAt, now) ? 'expired' : 'valid';
}

/** A key is valid before its moment of expiry, and not at it. */
export function isPast(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
