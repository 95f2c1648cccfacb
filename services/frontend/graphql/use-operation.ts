import { useMemo } from 'react';
import { useQuery } from 'urql';
import { toShownError } from './client.ts';
import type { Operation } from './operation.ts';
import type { ShownError } from './shown-error.ts';

export interface Answer<Result> {
  /** The latest answer; it stays while a newer one is asked for or was refused. */
  readonly data: Result | null;
  readonly error: ShownError | null;
  readonly retry: () => void;
}

/** The answer to a query, which follows every change while it is on the screen. */
export function useOperation<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  isPaused = false,
): Answer<Result> {
  const [{ data, error }, ask] = useQuery<Result>({ query: operation.text, variables, pause: isPaused });
  const shown = useMemo(() => (error === undefined ? null : toShownError(error)), [error]);
  return { data: data ?? null, error: shown, retry: () => ask({ requestPolicy: 'network-only' }) };
}
