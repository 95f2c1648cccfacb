import type { Graph, Node, Page, Selection } from './graph/graph.ts';
import type { TypeName } from './graph/schema.ts';

/** All nodes of a selection, a page at a time; others get their turn between two pages. */
export async function* everyPage<Type extends TypeName>(
  graph: Pick<Graph, 'select'>,
  selection: Omit<Selection<Type>, 'after'>,
): AsyncGenerator<readonly Node<Type>[], void, undefined> {
  let page: Page<Type> = await graph.select<Type>(selection);
  for (;;) {
    yield page.nodes;
    if (page.next === null) return;
    await nextTurn();
    page = await graph.select<Type>({ ...selection, after: page.next });
  }
}

/** Writes that one turn of the event loop may take: together about a millisecond. */
const turnMax = 5;

/** Does `work` with each, one after the other; others get their turn in between, also inside a transaction. */
export async function everyOne<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
  let done = 0;
  for (const item of items) {
    await work(item);
    if (++done % turnMax === 0) await nextTurn();
  }
}

/** Lets whoever waits for the event loop have it. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
