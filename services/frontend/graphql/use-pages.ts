import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { pipe, subscribe } from 'wonka';
import { backendUrl } from '../app/environment.ts';
import { ask, client, toShownError } from './client.ts';
import { ListReader, type Page, type ReadPages } from './list-reader.ts';
import type { Operation } from './operation.ts';
import { ShownError, unreachable } from './shown-error.ts';

export interface PagedRows<Row> {
  /** Null until the first page is there. */
  readonly rows: readonly Row[] | null;
  readonly error: ShownError | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

interface Question<Result, Row, Variables> {
  readonly operation: Operation<Result, Variables & { after?: string | null }>;
  readonly variables: Variables;
  /** The page in an answer; null where the workspace does not exist. */
  readonly pageOf: (result: Result) => Page<Row> | null;
}

/** The rows of a list in pages of the server. The first page follows every change, and each reads the others anew. */
export function usePages<Result, Row extends { readonly id: string }, Variables extends object>(
  question: Question<Result, Row, Variables>,
  pagesWanted = 1,
): PagedRows<Row> {
  const { operation, variables } = question;
  const asked = JSON.stringify([operation.text, variables]);
  const [loaded, setLoaded] = useState<{ readonly asked: string; readonly read: ReadPages<Row> } | null>(null);
  const [error, setError] = useState<ShownError | null>(null);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef({ ...question, asked });
  latest.current = { ...question, asked };

  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` stands for the question
  const reader = useMemo(() => {
    const { pageOf } = question;
    const isLatest = () => latest.current.asked === asked;
    return new ListReader<Row>(
      {
        ask: async (after) => pageOf(await ask(operation, { ...variables, after })) ?? { nodes: [], pageInfo: {} },
        onRead: (read) => {
          if (!isLatest()) return;
          setError(null);
          setLoaded({ asked, read });
        },
        onFailed: (failed) => {
          if (isLatest()) setError(failed instanceof ShownError ? failed : unreachable(backendUrl));
        },
      },
      pagesWanted,
    );
  }, [asked]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    let isShown = false;
    const following = pipe(
      client.query<Result>(operation.text, { ...variables, after: null }),
      subscribe(({ data, error: failed, stale }) => {
        // A newer answer is on its way. Until then an older one is shown, once.
        if (stale && isShown) return;
        if (failed !== undefined) setError(toShownError(failed));
        const page = data === undefined || failed !== undefined ? null : latest.current.pageOf(data);
        if (page === null) return;
        isShown = true;
        reader.changed(page);
      }),
    );
    return following.unsubscribe;
  }, [reader, attempt]);

  const read = loaded?.asked === asked ? loaded.read : null;
  const next = read?.next ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each page there is another one to load
  const loadMore = useCallback(() => reader.more(), [reader, next]);
  return {
    rows: read?.rows ?? null,
    error,
    hasMore: read === null || next !== null,
    loadMore,
    retry: () => setAttempt((count) => count + 1),
  };
}
