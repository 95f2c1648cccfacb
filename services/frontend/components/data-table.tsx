// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed by a virtual list cannot be those of a table
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The text or number that rows are sorted by; without it the column is not sortable. */
  readonly sortBy?: (row: Row) => string | number;
  /** Share of the width. */
  readonly share?: 'narrow' | 'wide';
  readonly isRight?: boolean;
  /** The first line of a row on a phone; other columns form the second. */
  readonly isTitle?: boolean;
  /** A phone leaves it to the panel of the row: without the head of its column it says little. */
  readonly isLeftOutOnPhone?: boolean;
}

export interface DataTableProps<Row extends { readonly id: string }> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly onOpen: (row: Row) => void;
  /** The id of the row whose panel is open. */
  readonly openId?: string | null | undefined;
  /** A second line below a row, such as the reason of a failure. */
  readonly below?: (row: Row) => ReactNode;
  readonly hasMore?: boolean;
  readonly onNeedMore?: (() => void) | undefined;
  /** Selection by x; absent: rows cannot be selected. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (row: Row) => void;
}

/** Rows that a key moves by. */
const steps: Readonly<Record<string, number>> = {
  ...{ j: 1, k: -1, ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
};
const rowHeight = 44;
/** Rows outside the screen that exist, so that a fast scroll shows no gap. */
const overscan = 12;

/**
 * Rows in columns. Only rows on the screen exist in the document, so thousands cost no more than dozens. Keyboard: j and k
 * or the arrow keys move, Enter opens, x selects. On a phone each row is two lines.
 */
export function DataTable<Row extends { readonly id: string }>(props: DataTableProps<Row>) {
  const { columns, onOpen, below, hasMore = false, onNeedMore, openId = null, selected, onSelect } = props;
  const [sort, setSort] = useState<Sort | null>(null);
  const [activeId, setActive] = useState<string | null>(openId);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const rows = useMemo(() => sorted(props.rows, columns, sort), [props.rows, columns, sort]);
  const found = rows.findIndex((row) => row.id === activeId);
  const active = found === -1 ? 0 : found;

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => list.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  // An order is right only over all rows.
  const needsMore = hasMore && (last >= rows.length - overscan || sort !== null);
  useEffect(() => {
    if (needsMore) onNeedMore?.();
  }, [needsMore, onNeedMore]);

  const move = (step: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, active + step));
    const row = rows[next];
    if (row === undefined) return;
    setActive(row.id);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const row = rows[active];
    if (event.target !== list.current || row === undefined) return;
    const step = steps[event.key];
    if (step !== undefined) move(step);
    else if (event.key === 'Enter') onOpen(row);
    else if (event.key === 'x' && onSelect !== undefined) onSelect(row);
    else return;
    event.preventDefault();
  };

  const template = gridTemplate(columns);
  return (
    <div className="overflow-hidden rounded-control border border-border bg-surface">
      <div
        ref={list}
        role="grid"
        aria-label={props.label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        aria-multiselectable={onSelect !== undefined || undefined}
        aria-activedescendant={rows.length > 0 ? `${id}-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="group max-h-[calc(100dvh-var(--spacing)*48)] overflow-y-auto -outline-offset-2"
      >
        <Heads columns={columns} sort={sort} onSort={setSort} template={template} />
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                role="presentation"
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                {/* biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys for its active row */}
                <div
                  id={`${id}-${index}`}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={selected?.has(row.id) ?? row.id === openId}
                  tabIndex={-1}
                  onClick={() => {
                    // The browser has focused the cell, which takes no keys.
                    list.current?.focus({ preventScroll: true });
                    setActive(row.id);
                    onOpen(row);
                  }}
                  className={classNames(
                    'cursor-pointer px-4 transition-colors hover:bg-hover',
                    index > 0 && 'border-border border-t',
                    index === active && 'group-focus-visible:bg-hover',
                    (row.id === openId || selected?.has(row.id)) && 'bg-accent-soft',
                  )}
                >
                  <div
                    className="flex min-h-11 flex-wrap items-center gap-x-4 py-1 tablet:grid"
                    role="presentation"
                    style={{ gridTemplateColumns: template }}
                  >
                    {columns.map((column) => (
                      <div
                        key={column.title}
                        role="gridcell"
                        tabIndex={-1}
                        title={fullText(column, row)}
                        className={classNames(
                          'min-w-0 truncate text-13 max-tablet:empty:hidden max-tablet:has-[>.hidden:only-child]:hidden',
                          column.isTitle && 'w-full font-medium text-14 tablet:w-auto',
                          column.isRight && 'tablet:text-right',
                          column.isLeftOutOnPhone && 'max-tablet:hidden',
                        )}
                      >
                        {column.cell(row)}
                      </div>
                    ))}
                  </div>
                  {below?.(row)}
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** A long name is cut in its column. The whole one appears on hover. */
function fullText<Row>({ cell, isTitle }: Column<Row>, row: Row): string | undefined {
  const content = isTitle === true ? cell(row) : null;
  return typeof content === 'string' ? content : undefined;
}

interface Sort {
  readonly title: string;
  readonly isDescending: boolean;
}

function Heads<Row>({
  columns,
  sort,
  onSort,
  template,
}: {
  readonly columns: readonly Column<Row>[];
  readonly sort: Sort | null;
  readonly onSort: (sort: Sort | null) => void;
  readonly template: string;
}) {
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={1}
      style={{ gridTemplateColumns: template }}
      className="sticky top-0 z-10 hidden h-9 items-center gap-4 border-border border-b bg-sunken px-4 text-12 text-quiet tablet:grid"
    >
      {columns.map(({ title, sortBy, isRight }) => {
        const direction = sort?.title === title ? (sort.isDescending ? 'descending' : 'ascending') : undefined;
        return (
          <div
            key={title}
            role="columnheader"
            tabIndex={-1}
            aria-sort={direction}
            className={classNames('min-w-0 truncate', isRight && 'text-right')}
          >
            {sortBy === undefined ? (
              title
            ) : (
              <button
                type="button"
                onClick={() => onSort(nextSort(title, direction))}
                className="inline-flex items-center gap-1 hover:text-text"
              >
                {title}
                {direction !== undefined && (
                  <Icon name="chevron" className={classNames('size-3', direction === 'ascending' && 'rotate-180')} />
                )}
              </button>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** Ascending, descending, then the order of the server. */
function nextSort(title: string, direction: 'ascending' | 'descending' | undefined): Sort | null {
  if (direction === 'descending') return null;
  return { title, isDescending: direction === 'ascending' };
}

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: Sort | null): readonly Row[] {
  const sortBy = columns.find(({ title }) => title === sort?.title)?.sortBy;
  if (sort === null || sortBy === undefined) return rows;
  const sign = sort.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(sortBy(a), sortBy(b)));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

function gridTemplate<Row>(columns: readonly Column<Row>[]): string {
  const shares = { narrow: 2, normal: 3, title: 4, wide: 5 };
  return columns
    .map(({ share, isTitle }) => `minmax(0, ${shares[share ?? (isTitle === true ? 'title' : 'normal')]}fr)`)
    .join(' ');
}
