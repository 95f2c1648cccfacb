import { type IncomingMessage, type OutgoingHttpHeaders, request as requestOverHttp } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { SvcError } from '../../contracts/errors.ts';
import type { Secret } from '../../contracts/secret.ts';

/** The backend's address, and the key that authenticates remote-mcp. */
export interface BackendAddress {
  readonly backendUrl: string;
  readonly systemKey: Secret;
}

export interface BackendRequest {
  readonly headers: OutgoingHttpHeaders;
  /** Also aborts an answer in progress. */
  readonly signal: AbortSignal;
}

/** The head of the backend's answer to a GET; the caller reads its body. Throws `unavailable` if the backend does not answer. */
export function askBackend(
  { backendUrl, systemKey }: BackendAddress,
  path: string,
  { headers, signal }: BackendRequest,
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
