import { useEffect } from 'react';
import { type PagedRows, usePages } from './use-pages.ts';

/** All rows of a list that its limit keeps short enough to read whole. Null until all pages are there. */
export function useEveryRow<Result, Row, Variables extends object>(
  question: Parameters<typeof usePages<Result, Row, Variables>>[0],
): Pick<PagedRows<Row>, 'rows' | 'error' | 'retry'> {
  const { rows, error, hasMore, loadMore, retry } = usePages(question);
  useEffect(() => {
    if (hasMore) loadMore();
  }, [hasMore, loadMore]);
  return { rows: hasMore ? null : rows, error, retry };
}
