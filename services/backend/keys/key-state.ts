import type { Node } from '../graph/graph.ts';

/** Architecture §7, "API key". Revoked outlasts expired: what somebody did says more than what time did. */
export type KeyState = 'valid' | 'expired' | 'revoked';

export function stateOfKey(key: Pick<Node<'key'>, 'expiresAt' | 'revokedAt'>, now: number): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  return isPast(key.expiresAt, now) ? 'expired' : 'valid';
}

/** A key is good until the very moment it expires at, and not in it. */
export function isPast(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
