import { useCallback, useEffect, useRef, useState } from 'react';
import { pipe, subscribe } from 'wonka';
import { client, toShownError } from './client.ts';
import type { Operation } from './operation.ts';
import type { ShownError } from './shown-error.ts';

interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly next?: string | null };
}

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

/** The rows of a list in pages of the server. Each loaded page follows every change. */
export function usePages<Result, Row, Variables extends object>(question: Question<Result, Row, Variables>) {
  const { operation, variables, pageOf } = question;
  const asked = JSON.stringify([operation.text, variables]);
  const [cursors, setCursors] = useState<{ asked: string; after: readonly (string | null)[] }>({
    asked,
    after: [null],
  });
  const [pages, setPages] = useState<{ asked: string; byCursor: ReadonlyMap<string | null, Page<Row>> }>(() => ({
    asked,
    byCursor: new Map(),
  }));
  const [error, setError] = useState<ShownError | null>(null);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(question);
  latest.current = { operation, variables, pageOf };
  /** The end of following, by cursor. */
  const followed = useRef(new Map<string | null, () => void>());

  // biome-ignore lint/correctness/useExhaustiveDependencies: another question or attempt asks for all pages anew
  useEffect(() => {
    const { current } = followed;
    return () => {
      for (const stop of current.values()) stop();
      current.clear();
    };
  }, [asked, attempt]);

  const after = cursors.asked === asked ? cursors.after : firstPage;
  const afterKey = JSON.stringify(after);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` and `afterKey` stand for the question and the cursors
  useEffect(() => {
    // A page that is already followed is not asked for again, or the last of fifty pages would cost fifty requests.
    for (const cursor of after.filter((one) => !followed.current.has(one))) {
      const { unsubscribe } = pipe(
        client.query<Result>(operation.text, { ...variables, after: cursor }),
        subscribe(({ data, error: failed }) => {
          setError(failed === undefined ? null : toShownError(failed));
          const page = data === undefined ? null : latest.current.pageOf(data);
          if (page === null) return;
          setPages((before) => ({
            asked,
            byCursor: new Map(before.asked === asked ? before.byCursor : []).set(cursor, page),
          }));
        }),
      );
      followed.current.set(cursor, unsubscribe);
    }
  }, [asked, afterKey, attempt]);

  const loaded = after.map((cursor) => (pages.asked === asked ? pages.byCursor.get(cursor) : undefined));
  const last = loaded.at(-1);
  const next = last?.pageInfo.next ?? null;
  const loadMore = useCallback(() => {
    if (next !== null) setCursors({ asked, after: [...after, next] });
  }, [asked, after, next]);
  const answer: PagedRows<Row> = {
    rows: loaded[0] === undefined ? null : loaded.flatMap((page) => page?.nodes ?? []),
    error,
    // The page that is being loaded may not be the last one.
    hasMore: last === undefined || next !== null,
    loadMore,
    retry: () => setAttempt((count) => count + 1),
  };
  return answer;
}

const firstPage: readonly (string | null)[] = [null];
