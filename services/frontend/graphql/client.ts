import {
  Client,
  type CombinedError,
  cacheExchange,
  type Exchange,
  fetchExchange,
  makeOperation,
  type Operation as UrqlOperation,
} from '@urql/core';
import { onPush, pipe } from 'wonka';
import { graphqlPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { fetchWithSession } from './account.ts';
import { limitedFetch } from './limited-fetch.ts';
import type { Operation } from './operation.ts';
import { errorFrom, fieldOf, readHttpError, type ShownError, unreachable } from './shown-error.ts';

/** The queries that something on the screen shows. */
const shown = new Map<number, UrqlOperation>();

const rememberShown: Exchange =
  ({ forward }) =>
  (operations) =>
    forward(
      pipe(
        operations,
        onPush((operation) => {
          if (operation.kind === 'query') shown.set(operation.key, operation);
          if (operation.kind === 'teardown') shown.delete(operation.key);
        }),
      ),
    );

/** The backend runs 32 operations of one person at once. Two windows must not refuse each other. */
const atOnceMax = 12;

export const client = new Client({
  url: `${backendUrl}${graphqlPath}`,
  exchanges: [rememberShown, cacheExchange, fetchExchange],
  fetch: limitedFetch(fetchWithSession, atOnceMax),
  preferGetMethod: false,
  requestPolicy: 'cache-and-network',
});

/** Asks again for everything on the screen. */
export function refreshShown(): void {
  for (const operation of shown.values()) {
    client.reexecuteOperation(
      makeOperation('query', operation, { ...operation.context, requestPolicy: 'network-only' }),
    );
  }
}

/** Sends a mutation. Throws a ShownError if it was refused. */
export async function send<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const { data, error } = await client.mutation<Result>(operation.text, variables).toPromise();
  if (error !== undefined) throw toShownError(error);
  if (data === undefined || data === null) throw unreachable(backendUrl);
  refreshShown();
  return data;
}

/** Asks once, from the network. Throws a ShownError. */
export async function ask<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const options = { requestPolicy: 'network-only' } as const;
  const { data, error } = await client.query<Result>(operation.text, variables, options).toPromise();
  if (error !== undefined) throw toShownError(error);
  if (data === undefined || data === null) throw unreachable(backendUrl);
  return data;
}

export function toShownError({ graphQLErrors, networkError, response, message }: CombinedError): ShownError {
  const [first] = graphQLErrors;
  if (first !== undefined) {
    const { code, hint, request } = first.extensions;
    const fields = { code: code ?? 'internal', message: first.message, hint };
    const shownError = errorFrom(fields, typeof request === 'string' ? request : null);
    if (shownError !== null) return shownError;
  }
  const headers = fieldOf(response, 'headers');
  const requestId = headers instanceof Headers ? headers.get('x-request-id') : null;
  return readHttpError(networkError?.message ?? message, requestId) ?? unreachable(backendUrl);
}
