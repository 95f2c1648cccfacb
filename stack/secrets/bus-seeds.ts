import { createAccount, createUser, fromSeed } from '@nats-io/nkeys';

/** `user`: shows itself to NATS. `account`: signs who else is let in. */
export type BusSeedKind = 'user' | 'account';

/** How the text of a seed begins, by kind. */
export const busSeedPrefixes: Readonly<Record<BusSeedKind, string>> = { user: 'SU', account: 'SA' };

export function newBusSeed(kind: BusSeedKind): string {
  const pair = kind === 'user' ? createUser() : createAccount();
  return Buffer.from(pair.getSeed()).toString();
}

export function isBusSeed(kind: BusSeedKind, text: string): boolean {
  try {
    return text.startsWith(busSeedPrefixes[kind]) && publicBusKey(text) !== '';
  } catch {
    return false;
  }
}

/** What may stand in a configuration. */
export function publicBusKey(seed: string): string {
  return fromSeed(Buffer.from(seed)).getPublicKey();
}
