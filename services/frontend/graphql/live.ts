import { createClient } from 'graphql-ws';
import { useSyncExternalStore } from 'react';
import { graphqlPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { goToSignIn, refreshSession } from './account.ts';
import { refreshShown } from './client.ts';
import { changesSubscription } from './generated/operations.ts';
import { fieldOf } from './shown-error.ts';

export type Connection = 'connecting' | 'live' | 'lost';

/** A burst of changes is one round trip. */
const coalesceMs = 50;
const retryFirstMs = 500;
const retryMaxMs = 15_000;

/** The backend closes the connections of a session that has ended with this code. */
const signedOutCode = 4401;

let connection: Connection = 'connecting';
const listeners = new Set<() => void>();
let isAsking = false;

/** The state of the connection that reports changes. Shown data may be stale unless it is live. */
export function useConnection(): Connection {
  return useSyncExternalStore(listen, () => connection);
}

/**
 * Follows the changes of a workspace and of the own account until the result is called; `null`: of the account alone.
 * The first message comes after each connect to a workspace: what was asked before may be stale, so it counts as a change.
 */
export function followChanges(workspace: string | null): () => void {
  let isStopped = false;
  const client = createClient({
    url: `${backendUrl.replace(/^http/, 'ws')}${graphqlPath}`,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: waitBeforeRetry,
    on: {
      connected: () => setConnection('live'),
      closed: (event) => {
        if (isStopped) return;
        if (fieldOf(event, 'code') === signedOutCode) return goToSignIn();
        setConnection(connection === 'connecting' ? 'connecting' : 'lost');
      },
      error: () => setConnection('lost'),
    },
  });
  const unsubscribe = client.subscribe(
    { query: changesSubscription.text, variables: { workspace } },
    { next: askSoon, error: () => setConnection('lost'), complete: () => undefined },
  );
  return () => {
    isStopped = true;
    unsubscribe();
    void client.dispose();
    setConnection('connecting');
  };
}

function askSoon(): void {
  if (isAsking) return;
  isAsking = true;
  setTimeout(() => {
    isAsking = false;
    refreshShown();
  }, coalesceMs);
}

/** The refused handshake of a WebSocket does not say why. It may be an expired token, so each retry refreshes it. */
async function waitBeforeRetry(retries: number): Promise<void> {
  const delayMs = Math.min(retryMaxMs, retryFirstMs * 2 ** retries) * (0.5 + Math.random() / 2);
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  const isSignedIn = await refreshSession().catch(() => true);
  if (!isSignedIn) goToSignIn();
}

function setConnection(next: Connection): void {
  connection = next;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
