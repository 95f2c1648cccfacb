import { createHmac, type KeyObject } from 'node:crypto';
import { type ProcessId, processIdFrom } from '../../contracts/ids.ts';
import type { Credentials } from './bus.ts';

export type ClientCredentials = Exclude<Credentials, { kind: 'backend' }>;

/**
 * Derives the process id of a client from its credential and nonce. Every backend derives the same id when the client
 * returns. A client cannot choose its id, and another credential gives another id for the same nonce.
 */
export function nameProcess(key: KeyObject, credentials: ClientCredentials, nonce: string): ProcessId {
  const { kind } = credentials;
  const shownAs =
    kind === 'runtime'
      ? [kind]
      : [kind, credentials.component, 'runtimeName' in credentials ? credentials.runtimeName : ''];
  const shown = JSON.stringify([...shownAs, credentials.key.reveal(), nonce]);
  return processIdFrom(createHmac('sha256', key).update(shown).digest());
}
