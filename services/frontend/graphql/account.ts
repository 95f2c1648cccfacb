import type { AccountAnswers } from '../../contracts/browser-answers.ts';
import { accountPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { readHttpError, ShownError, unreachable } from './shown-error.ts';

const accountTimeoutMs = 15_000;

/** `POST /account/PATH`: its answer, null for 204. Throws a ShownError. */
export async function postAccount<Path extends keyof AccountAnswers>(
  path: Path,
  body: object,
): Promise<AccountAnswers[Path]> {
  // The backend answers by the same list.
  return (await post(`${accountPath}/${path}`, body)) as AccountAnswers[Path];
}

/** As `postAccount`, at any path, for a person who is signed in. A token that has expired is refreshed once. */
export async function postSignedIn(path: string, body: object): Promise<unknown> {
  const sentAt = performance.now();
  try {
    return await post(path, body);
  } catch (error) {
    if (!(error instanceof ShownError) || error.code !== 'unauthenticated') throw error;
    if (await refreshSession(sentAt)) return await post(path, body);
    goToSignIn();
    throw error;
  }
}

async function post(path: string, body: object): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${backendUrl}${path}`, {
      method: 'POST',
      credentials: 'include',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(accountTimeoutMs),
    });
    text = await response.text();
    if (response.ok) return text === '' ? null : JSON.parse(text);
  } catch {
    throw unreachable(backendUrl);
  }
  const requestId = response.headers.get('x-request-id');
  throw readHttpError(text, requestId) ?? unreachable(backendUrl);
}

/** Whether the session was refreshed. Throws if the backend does not answer. */
async function refresh(): Promise<boolean> {
  try {
    await postAccount('refresh', {});
    refreshedAt = performance.now();
    return true;
  } catch (error) {
    if (error instanceof ShownError && error.code === 'unauthenticated') return false;
    throw error;
  }
}

let refreshing: Promise<boolean> | null = null;
let refreshedAt = Number.NEGATIVE_INFINITY;

/**
 * Refreshes the session, unless that has been done since `sentAt`, when the refused request was sent. One refresh at a time in all
 * tabs. Browsers have locks on secure pages only; elsewhere one tab takes turns with itself.
 */
export function refreshSession(sentAt: number): Promise<boolean> {
  if (refreshedAt > sentAt) return Promise.resolve(true);
  const run = navigator.locks === undefined ? refresh : () => navigator.locks.request('svc-refresh', refresh);
  refreshing ??= run().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

/** As `fetch`, with the session. A token that has expired is refreshed once, and the request is sent again. */
export async function fetchWithSession(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const send = () => fetch(input, { ...init, credentials: 'include' });
  const sentAt = performance.now();
  const response = await send();
  if (response.status !== 401) return response;
  if (await refreshSession(sentAt)) return await send();
  goToSignIn();
  return response;
}

/** The page after it starts without anything in memory of the person before. */
export function goToSignIn(): void {
  const { pathname, search } = window.location;
  if (isSigningOut || pathname === '/sign-in') return;
  const back = pathname === '/' ? '' : `?back=${encodeURIComponent(pathname + search)}`;
  window.location.assign(`/sign-in${back}`);
}

/** The backend closes the connections of the page before it answers, which would lead back here after the next sign-in. */
let isSigningOut = false;

export async function signOut(): Promise<void> {
  isSigningOut = true;
  await postAccount('sign-out', {}).catch((error: unknown) => {
    isSigningOut = false;
    throw error;
  });
  window.location.assign('/sign-in');
}
