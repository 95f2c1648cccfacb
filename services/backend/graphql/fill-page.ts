import type { Cursor, Node, Page } from '../graph/graph.ts';
import type { TypeName } from '../graph/schema.ts';

interface Slice {
  readonly limit: number;
  readonly after?: Cursor;
}

interface Source<Type extends TypeName> {
  /** Reads the next nodes of the list. */
  readonly read: (slice: Slice) => Promise<Page<Type>>;
  /** Picks the nodes of a slice that belong to the page. */
  readonly pick: (nodes: readonly Node<Type>[]) => readonly Node<Type>[] | Promise<readonly Node<Type>[]>;
  readonly slicesMax: number;
  /** Whether what was read is too much for one page. */
  readonly isTooMuch?: () => boolean;
}

/**
 * A page of the nodes that match, read in slices. It stops at a bound, so that it may hold fewer nodes than asked for, or
 * none, before the last one.
 */
export async function fillPage<Type extends TypeName>(page: Slice, source: Source<Type>): Promise<Page<Type>> {
  const { read, pick, slicesMax, isTooMuch = () => false } = source;
  const nodes: Node<Type>[] = [];
  let next = page.after ?? null;
  for (let slices = 0; slices < slicesMax && !isTooMuch(); slices++) {
    const limit = page.limit - nodes.length;
    // A small slice costs as many round trips as a full one.
    if (limit * 2 < page.limit || (slices > 0 && next === null)) break;
    const slice = await read({ limit, ...(next === null ? {} : { after: next }) });
    nodes.push(...(await pick(slice.nodes)));
    next = slice.next;
  }
  return { nodes, next };
}
