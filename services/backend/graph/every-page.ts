import type { Graph, Node, Page, Selection } from './graph.ts';
import type { TypeName } from './schema.ts';

/** All nodes of a selection, page by page. */
export async function* everyPage<Type extends TypeName>(
  graph: Pick<Graph, 'select'>,
  selection: Omit<Selection<Type>, 'after'>,
): AsyncGenerator<readonly Node<Type>[], void, undefined> {
  let page: Page<Type> = await graph.select<Type>(selection);
  for (;;) {
    yield page.nodes;
    if (page.next === null) return;
    page = await graph.select<Type>({ ...selection, after: page.next });
  }
}
