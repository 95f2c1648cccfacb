import { SvcError } from '../../contracts/errors.ts';
import { parseId, type RoleId } from '../../contracts/ids.ts';
import { defaultDisclosure, type KeyDisclosure, keyDisclosures } from '../../contracts/key-disclosure.ts';

export const rolesPerKeyMax = 100;
const yearMs = 365 * 24 * 60 * 60 * 1000;
/** A longer lifetime means no expiry. */
export const lifetimeMaxMs = 10 * yearMs;

/** Null: every role of the workspace, also later ones. */
export function parseRoles(roles: readonly string[] | null | undefined): readonly RoleId[] | null {
  if (roles == null) return null;
  const ids = [...new Set(roles)].map((role) => parseId('role', role));
  if (ids.length >= 1 && ids.length <= rolesPerKeyMax) return ids;
  throw new SvcError(
    'invalid_input',
    `A key for ${ids.length} roles is not possible: name 1 to ${rolesPerKeyMax} roles, or none for every role.`,
  );
}

/** Null: the key does not expire. */
export function parseExpiry(expiresAt: number | null | undefined, now: number): number | null {
  if (expiresAt == null) return null;
  const time = Math.floor(expiresAt);
  if (time > now && time <= now + lifetimeMaxMs) return time;
  const given = Number.isFinite(time) && Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(expiresAt);
  throw new SvcError(
    'invalid_input',
    `"${given}" is not a valid expiry for a key: it must be in the future, at most 10 years ahead.`,
    { hint: 'Leave it out for a key that does not expire.' },
  );
}

/** Keys of older installations have no disclosure. */
export function disclosureOf({ disclosure }: { readonly disclosure: string | null }): KeyDisclosure {
  return keyDisclosures.find((known) => known === disclosure) ?? defaultDisclosure;
}
