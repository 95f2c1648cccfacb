import { createClient } from 'graphql-ws';
import { useSyncExternalStore } from 'react';
import { signedOutCode, tooManyMessagesCode } from '../../contracts/close-codes.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { goToSignIn, refreshSession } from './account.ts';
import { refreshShown } from './client.ts';
import {
  changesSubscription,
  type RuntimeStatesSubscription,
  runtimeStatesSubscription,
} from './generated/operations.ts';
import type { Operation } from './operation.ts';
import { fieldOf } from './shown-error.ts';

/** `stopped`: the backend has refused the page, which does not connect again by itself. */
export type Connection = 'connecting' | 'live' | 'lost' | 'stopped';

/** A burst of changes is one round trip. */
const coalesceMs = 50;
const retryFirstMs = 500;
const retryMaxMs = 15_000;
/** A switch of the workspace keeps the connection. */
const keptOpenMs = 1000;

let connection: Connection = 'connecting';
const listeners = new Set<() => void>();
let isAsking = false;
let followed = 0;
let triedAt = 0;
let isSignedOut = false;

/** The state of the connection that reports changes. Shown data may be stale unless it is live. */
export function useConnection(): Connection {
  return useSyncExternalStore(listen, () => connection);
}

/** One WebSocket for everything that the pages follow. */
const client = createClient({
  url: `${backendUrl.replace(/^http/, 'ws')}${graphqlPath}`,
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: (closed) => fieldOf(closed, 'code') !== tooManyMessagesCode,
  retryWait: (retries) => waitBeforeRetry(retries, triedAt),
  lazyCloseTimeout: keptOpenMs,
  on: {
    connecting: () => {
      triedAt = performance.now();
    },
    connected: () => setConnection('live'),
    closed: (event) => {
      const code = fieldOf(event, 'code');
      if (code === signedOutCode) {
        isSignedOut = true;
        return goToSignIn();
      }
      if (code === tooManyMessagesCode) return setConnection('stopped');
      const isExpected = followed === 0 || connection === 'connecting';
      setConnection(isExpected ? 'connecting' : 'lost');
    },
    // A refused page has its own state.
    error: () => connection !== 'stopped' && setConnection('lost'),
  },
});

/**
 * Follows the changes of a workspace and of the own account until the result is called; `null`: of the account alone.
 * The first message comes after each connect to a workspace: what was asked before may be stale, so it counts as a change.
 */
export function followChanges(workspace: string | null): () => void {
  return follow(changesSubscription, { workspace }, (data) => {
    if (data?.changes.kind === 'calls') for (const listener of onCallsCounted) listener();
    else askSoon();
  });
}

/** Most pages show no calls, and a busy workspace has some every second: only these listeners hear of them. */
export const onCallsCounted = new Set<() => void>();

/** Follows the runtimes that serve a workspace, until the result is called. */
export function followRuntimes(
  workspace: string,
  onState: (runtime: RuntimeStatesSubscription['runtimeStates']) => void,
): () => void {
  return follow(runtimeStatesSubscription, { workspace }, (data) => data !== null && onState(data.runtimeStates));
}

/** Subscribes until the result is called. The listener also hears a refusal, as null. */
function follow<Result, Variables extends Readonly<Record<string, string | null>>>(
  { text: query }: Operation<Result, Variables>,
  variables: Variables,
  onNews: (data: Result | null) => void,
): () => void {
  let isStopped = false;
  let unsubscribe = () => {};
  let failures = 0;
  const subscribe = () => {
    unsubscribe = client.subscribe<Result>(
      { query, variables: { ...variables } },
      {
        next: ({ data, errors }) => {
          if (errors === undefined) {
            failures = 0;
            setConnection('live');
          }
          onNews(data ?? null);
        },
        error: subscribeAgain,
        complete: subscribeAgain,
      },
    );
  };
  // The client connects again by itself, but it does not repeat a subscription that the backend has ended.
  const subscribeAgain = async () => {
    if (isStopped || isSignedOut || connection === 'stopped') return;
    setConnection('lost');
    await waitBeforeRetry(failures, performance.now());
    failures += 1;
    if (!isStopped) subscribe();
  };
  followed += 1;
  subscribe();
  return () => {
    if (isStopped) return;
    isStopped = true;
    followed -= 1;
    unsubscribe();
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
