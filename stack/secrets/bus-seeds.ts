import { createAccount, createUser, fromSeed } from '@nats-io/nkeys';

/** `user`: authenticates to NATS. `account`: signs admissions of other clients. */
export type BusSeedKind = 'user' | 'account';

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

/** The key that a configuration may contain. */
export function publicBusKey(seed: string): string {
  return fromSeed(Buffer.from(seed)).getPublicKey();
}
