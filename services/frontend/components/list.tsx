import { type ReactNode, useEffect } from 'react';
import type { PagedRows } from '../graphql/use-pages.ts';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { Loaded } from './loaded.tsx';

interface ListProps<Row extends { readonly id: string }>
  extends Omit<DataTableProps<Row>, 'rows' | 'hasMore' | 'onNeedMore'> {
  readonly of: Pick<PagedRows<Row>, 'rows' | 'error' | 'retry'> & Partial<PagedRows<Row>>;
  /** In place of the table while the list has no row. */
  readonly none?: ReactNode;
}

/** The rows of a list as a table, or why there are none. */
export function List<Row extends { readonly id: string }>({ of: list, none, ...table }: ListProps<Row>) {
  const { rows, error, retry, hasMore = false, loadMore } = list;
  const isEmpty = rows?.length === 0;
  // With a filter, a page may hold nothing before the last one.
  const isSearching = isEmpty && hasMore;
  useEffect(() => {
    if (isSearching) loadMore?.();
  }, [isSearching, loadMore]);
  return (
    <Loaded value={isSearching ? null : rows} error={error} onRetry={retry}>
      {(loaded) =>
        isEmpty && none !== undefined ? (
          none
        ) : (
          <DataTable {...table} rows={loaded} hasMore={hasMore} onNeedMore={loadMore} />
        )
      }
    </Loaded>
  );
}
