import { useMemo, useRef } from 'react';
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
  const asked = JSON.stringify([operation.text, variables]);
  const answered = useRef<{ readonly asked: string; readonly data: Result } | null>(null);
  if (data != null) answered.current = { asked, data };
  // A refusal has no data.
  const kept = error !== undefined && answered.current?.asked === asked ? answered.current.data : null;
  return { data: data ?? kept, error: shown, retry: () => ask({ requestPolicy: 'network-only' }) };
}
