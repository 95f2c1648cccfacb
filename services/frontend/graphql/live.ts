import { createClient } from 'graphql-ws';
import { useSyncExternalStore } from 'react';
import { signedOutCode, tooManyMessagesCode } from '../../contracts/close-codes.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { goToSignIn, refreshSession } from './account.ts';
import { refreshShown } from './client.ts';
import { changesSubscription } from './generated/operations.ts';
import { fieldOf } from './shown-error.ts';

/** `stopped`: the backend has refused the page, which does not connect again by itself. */
export type Connection = 'connecting' | 'live' | 'lost' | 'stopped';

/** A burst of changes is one round trip. */
const coalesceMs = 50;
const retryFirstMs = 500;
const retryMaxMs = 15_000;

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
  let triedAt = 0;
  const client = createClient({
    url: `${backendUrl.replace(/^http/, 'ws')}${graphqlPath}`,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: (closed) => fieldOf(closed, 'code') !== tooManyMessagesCode,
    retryWait: (retries) => waitBeforeRetry(retries, triedAt),
    on: {
      connecting: () => {
        triedAt = performance.now();
      },
      connected: () => setConnection('live'),
      closed: (event) => {
        if (isStopped) return;
        const code = fieldOf(event, 'code');
        if (code === signedOutCode) {
          isStopped = true;
          return goToSignIn();
        }
        if (code === tooManyMessagesCode) return setConnection('stopped');
        setConnection(connection === 'connecting' ? 'connecting' : 'lost');
      },
      // A refused page has its own state.
      error: () => connection !== 'stopped' && setConnection('lost'),
    },
  });
  let unsubscribe = () => {};
  let failures = 0;
  const follow = () => {
    unsubscribe = client.subscribe(
      { query: changesSubscription.text, variables: { workspace } },
      {
        next: ({ errors }) => {
          if (errors === undefined) failures = 0;
          askSoon();
        },
        error: followAgain,
        complete: followAgain,
      },
    );
  };
  // The client connects again by itself, but it does not repeat a subscription that the backend has ended.
  const followAgain = async () => {
    if (isStopped || connection === 'stopped') return;
    setConnection('lost');
    await waitBeforeRetry(failures, performance.now());
    failures += 1;
    if (!isStopped) follow();
  };
  follow();
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
async function waitBeforeRetry(retries: number, triedAt: number): Promise<void> {
  const delayMs = Math.min(retryMaxMs, retryFirstMs * 2 ** retries) * (0.5 + Math.random() / 2);
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  const isSignedIn = await refreshSession(triedAt).catch(() => true);
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
