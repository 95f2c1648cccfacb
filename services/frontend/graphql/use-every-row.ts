import { type PagedRows, usePages } from './use-pages.ts';

/** All rows of a list that its limit keeps short enough to read whole. Null until all pages are there. */
export function useEveryRow<Result, Row extends { readonly id: string }, Variables extends object>(
  question: Parameters<typeof usePages<Result, Row, Variables>>[0],
): Pick<PagedRows<Row>, 'rows' | 'error' | 'retry'> {
  return usePages(question, Number.POSITIVE_INFINITY);
}
