import type { Graph, Node, Page, Selection } from '../graph/graph.ts';
import type { TypeName } from '../graph/schema.ts';
import { type Operation, operationMaxBytes } from './operation.ts';
import { Slots, SlotsByName } from './slots.ts';

/** Lists read at once for all operations; their size is not in a budget yet. */
const listsAtOnce = 4;
/** The same for one user, so that large reads delay only that user. */
const listsOfUserAtOnce = 2;
/**
 * Nodes of a page that are read first, at most 6 MiB. If they are small, the rest follows at once, else in slices of
 * this size.
 */
const firstSlice = 25;
const smallSliceBytes = 256 * 1024;
/** An operation may not hold more anyway. */
const textMax = operationMaxBytes;
/** Single nodes that one operation reads at once: they are small, and with Dgraph each takes a round trip. */
const nodesAtOnce = 16;
/** A node without its texts, and its entry in a list. */
const nodeBytes = 256;
const placeBytes = 8;

/** Made once for each backend: gives each operation a graph that counts its reads. */
export function createGraphCounter(graph: Graph): (operation: Operation) => Graph {
  const lists = new Slots(listsAtOnce);
  const listsOfUsers = new SlotsByName(listsOfUserAtOnce);
  return (operation) => {
    // Lists are read one after the other, so that one that is too large stops the rest.
    const ownLists = new Slots(1);
    const ownNodes = new Slots(nodesAtOnce);
    const list = <Result>(read: () => Promise<Result>) =>
      ownLists.run(() => listsOfUsers.run(operation.user, () => lists.run(() => operation.run(read))));
    const node = async <Found extends object>(read: () => Promise<Found | null>): Promise<Found | null> => {
      const found = await ownNodes.run(() => operation.run(read));
      if (found !== null) operation.countRead(bytesOfNode(found));
      return found;
    };
    return {
      find: (type, id, anchor) => node(() => graph.find(type, id, anchor)),
      findBy: (type, values, anchor) => node(() => graph.findBy(type, values, anchor)),
      async select<Type extends TypeName>(selection: Selection<Type>): Promise<Page<Type>> {
        const nodes: Node<Type>[] = [];
        let { after } = selection;
        let sliceMax = firstSlice;
        for (;;) {
          const limit = Math.min(sliceMax, selection.limit - nodes.length);
          const from = after === undefined ? {} : { after };
          const slice = await list(() => graph.select<Type>({ ...selection, ...from, limit }));
          const bytes = slice.nodes.reduce((sum, found) => sum + bytesOfNode(found), 0);
          operation.countRead(bytes);
          nodes.push(...slice.nodes);
          if (slice.next === null || nodes.length === selection.limit) return { nodes, next: slice.next };
          after = slice.next;
          if (bytes < smallSliceBytes) sliceMax = selection.limit;
        }
      },
      count: (selection) => list(() => graph.count(selection)),
      follow: (edge, from, options) =>
        list(async () => countEnds(operation, await graph.follow(edge, from, { ...options, textMax }))),
      followBack: (edge, to, options) =>
        list(async () => countEnds(operation, await graph.followBack(edge, to, { ...options, textMax }))),
      write: (work) =>
        operation.run(() =>
          graph.write(async (transaction) => {
            // A change whose client got a timeout is not started any more.
            operation.signal.throwIfAborted();
            return await work(transaction);
          }),
        ),
      ready: () => graph.ready(),
      close: () => graph.close(),
    };
  };
}

/** A node with several incoming edges is one object. */
function countEnds<Ends extends ReadonlyMap<string, readonly Node<TypeName>[]>>(
  operation: Operation,
  ends: Ends,
): Ends {
  const seen = new Set<object>();
  for (const nodes of ends.values()) {
    operation.countRead(placeBytes * nodes.length);
    for (const node of nodes) {
      if (seen.has(node)) continue;
      seen.add(node);
      operation.countRead(bytesOfNode(node));
    }
  }
  return ends;
}

function bytesOfNode(node: object): number {
  let bytes = nodeBytes;
  for (const value of Object.values(node)) if (typeof value === 'string') bytes += bytesOfText(value);
  return bytes;
}

/** Two bytes for each character, because the text may contain one outside of Latin-1. */
function bytesOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
