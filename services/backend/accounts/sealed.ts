import { SvcError } from '../../contracts/errors.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Place, WithSecrets } from '../secrets/secrets.ts';

/** A person has this long between the beginning and the end of a sign-in. */
export const sealedMaxAgeMs = 5 * 60_000;

export interface Sealed {
  readonly value: string;
  readonly sealedAt: number;
}

/** A text that its receiver keeps for a few minutes, and neither reads nor changes. The place is its only use. */
export function seal({ secrets }: WithSecrets, value: string, place: Place): string {
  return secrets.encrypt(new Secret(`${Date.now()} ${value}`), place);
}

/** Null for a text that is too old, changed, of another place, or not sealed here. */
export function unseal({ secrets }: WithSecrets, text: string, place: Place): Sealed | null {
  try {
    const [, time, value = ''] = /^(\d{1,15}) (.*)$/.exec(secrets.decrypt(text, place).reveal()) ?? [];
    const sealedAt = Number(time);
    return Date.now() - sealedAt <= sealedMaxAgeMs ? { value, sealedAt } : null;
  } catch (thrown) {
    if (thrown instanceof SvcError) return null;
    throw thrown;
  }
}
