import { useEffect, useRef } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { type OwnKeyFragment, ownKeysQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';

export type OwnKey = OwnKeyFragment;

/** The person's keys and connected agents in this workspace: an agent is a key of a client. */
export function useOwnKeys() {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(ownKeysQuery, { workspace: workspace.id });
  const keys = data?.workspace?.ownKeys ?? null;
  const ask = useRef(retry);
  ask.current = retry;
  useEffect(() => {
    // An expiry is no change, so nothing tells the page of one.
    const waitMs = nextExpiry(keys ?? []) - Date.now() + laterMs;
    if (waitMs > timerMaxMs) return;
    const timer = setTimeout(() => ask.current(), waitMs);
    return () => clearTimeout(timer);
  }, [keys]);
  return { keys, error, retry };
}

/** The clock of the backend may be a little behind. */
const laterMs = 1000;
/** A timer of a browser cannot wait longer. */
const timerMaxMs = 2 ** 31 - 1;

function nextExpiry(keys: readonly OwnKey[]): number {
  const expiries = keys.flatMap(({ state, expiresAt }) => (state === 'valid' && expiresAt != null ? [expiresAt] : []));
  return Math.min(...expiries);
}

/** `Every role`, or the names of some. */
export function rolesInWords({ roles }: Pick<OwnKey, 'roles'>): string {
  if (roles === null || roles === undefined) return 'Every role';
  return roles.length === 0 ? 'None: its roles were removed' : roles.map(({ name }) => name).join(', ');
}

/** Ids of the keys that a newer key of the same name replaces. */
export function replacedIds(keys: readonly OwnKey[]): ReadonlySet<string> {
  return new Set(keys.flatMap(({ replaces }) => (replaces === null || replaces === undefined ? [] : [replaces.id])));
}
