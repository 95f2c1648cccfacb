/** A row of a list whose entries never change: new ones come before the others. */
interface Entry {
  readonly id: string;
}

export interface LogPage<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly next: string | null };
}

/** What is loaded of such a list, and where its next page begins. */
export interface LogRows<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** Puts the first page, asked again, before the rows. Without a common row there may be a gap, so the list begins anew. */
export function withFirstPage<Row extends Entry>(loaded: LogRows<Row> | null, page: LogPage<Row>): LogRows<Row> {
  const known = new Set(loaded?.rows.map(({ id }) => id));
  const fresh = page.nodes.filter(({ id }) => !known.has(id));
  const hasGap = fresh.length === page.nodes.length && page.nodes.length > 0;
  if (loaded === null || hasGap) return { rows: page.nodes, next: page.pageInfo.next };
  return fresh.length === 0 ? loaded : { ...loaded, rows: [...fresh, ...loaded.rows] };
}

/** Puts the next page behind the rows. */
export function withNextPage<Row extends Entry>({ rows }: LogRows<Row>, page: LogPage<Row>): LogRows<Row> {
  const known = new Set(rows.map(({ id }) => id));
  return { rows: [...rows, ...page.nodes.filter(({ id }) => !known.has(id))], next: page.pageInfo.next };
}
