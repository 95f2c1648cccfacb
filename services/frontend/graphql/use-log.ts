import { useCallback, useEffect, useRef, useState } from 'react';
import { pipe, subscribe } from 'wonka';
import { ask, client, toShownError } from './client.ts';
import { type LogPage, type LogRows, withFirstPage, withNextPage } from './log-rows.ts';
import type { Operation } from './operation.ts';
import { type ShownError, shownErrorOf } from './shown-error.ts';
import type { PagedRows } from './use-pages.ts';

interface Question<Result, Row, Variables> {
  readonly operation: Operation<Result, Variables & { after?: string | null }>;
  readonly variables: Variables;
  /** The page in an answer; null where the workspace does not exist. */
  readonly pageOf: (result: Result) => LogPage<Row> | null;
}

interface Loaded<Row> {
  readonly asked: string;
  readonly log: LogRows<Row>;
}

/** The entries of a log in pages of the server, the latest first. Old entries never change, so only the first page follows. */
export function useLog<Result, Row extends { readonly id: string }, Variables extends object>(
  question: Question<Result, Row, Variables>,
): PagedRows<Row> {
  const { operation, variables } = question;
  const asked = JSON.stringify([operation.text, variables]);
  const [loaded, setLoaded] = useState<Loaded<Row> | null>(null);
  const [error, setError] = useState<ShownError | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isLoading = useRef<string | null>(null);
  const latest = useRef(question);
  latest.current = question;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` stands for the question
  useEffect(() => {
    const following = pipe(
      client.query<Result>(operation.text, variables),
      subscribe(({ data, error: failed }) => {
        setError(failed === undefined ? null : toShownError(failed));
        const page = data === undefined ? null : latest.current.pageOf(data);
        if (page === null) return;
        setLoaded((before) => ({ asked, log: withFirstPage(before?.asked === asked ? before.log : null, page) }));
      }),
    );
    return following.unsubscribe;
  }, [asked, attempt]);

  const log = loaded?.asked === asked ? loaded.log : null;
  const next = log?.next ?? null;
  const loadMore = useCallback(() => {
    const place = `${asked} ${next}`;
    if (next === null || isLoading.current === place) return;
    isLoading.current = place;
    const { operation: same, variables: given, pageOf } = latest.current;
    ask(same, { ...given, after: next })
      .then((answer) => {
        const page = pageOf(answer);
        if (page === null) return;
        // Meanwhile the list may have begun anew.
        setLoaded((before) =>
          before?.asked === asked && before.log.next === next ? { asked, log: withNextPage(before.log, page) } : before,
        );
      })
      .catch((thrown: unknown) => setError(shownErrorOf(thrown)))
      .finally(() => {
        if (isLoading.current === place) isLoading.current = null;
      });
  }, [asked, next]);
  return {
    rows: log?.rows ?? null,
    error,
    hasMore: next !== null,
    loadMore,
    retry: () => setAttempt((count) => count + 1),
  };
}
