import { type IncomingMessage, type OutgoingHttpHeaders, request as requestOverHttp } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { SvcError } from '../../contracts/errors.ts';
import type { Secret } from '../../contracts/secret.ts';

/** Where the backend is, and what it knows remote-mcp by. */
export interface BackendAddress {
  readonly backendUrl: string;
  readonly systemKey: Secret;
}

export interface Asking {
  readonly headers: OutgoingHttpHeaders;
  /** Ends the answer as well, however far it is. */
  readonly signal: AbortSignal;
}

/** The beginning of the backend's answer to a GET; its body is the caller's. Throws `unavailable` where there is none. */
export function askBackend(
  { backendUrl, systemKey }: BackendAddress,
  path: string,
  { headers, signal }: Asking,
): Promise<IncomingMessage> {
  const url = `${backendUrl}${path}`;
  const request = url.startsWith('https:') ? requestOverTls : requestOverHttp;
  return new Promise((resolve, reject) => {
    request(url, { signal, headers: { ...headers, authorization: `Bearer ${systemKey.reveal()}` } }, resolve)
      .on('error', (cause) => reject(notAnswering(cause)))
      .end();
  });
}

export function notAnswering(cause: unknown): SvcError {
  return new SvcError('unavailable', 'The backend is not answering.', { cause });
}
