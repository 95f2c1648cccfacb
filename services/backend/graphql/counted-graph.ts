import type { Graph, Node } from '../graph/graph.ts';
import type { TypeName } from '../graph/schema.ts';
import type { Operation } from './operation.ts';
import { Turns } from './turns.ts';

/** Lists that are read for all operations at once, each up to 25 MiB that no budget knows yet. */
const listsAtOnce = 4;
/** Single nodes that one operation reads at once: they are small, and with Dgraph each takes a round trip. */
const nodesAtOnce = 16;
/** A node without its texts, and a place in a list. */
const nodeBytes = 256;
const placeBytes = 8;

/** Made once for each backend: gives operations the graph, and counts what each one reads. */
export function createGraphCounter(graph: Graph): (operation: Operation) => Graph {
  const lists = new Turns(listsAtOnce);
  return (operation) => {
    // One list after the other: the first one that is too much keeps the others from being read.
    const ownLists = new Turns(1);
    const ownNodes = new Turns(nodesAtOnce);
    const list = <Result>(read: () => Promise<Result>) => ownLists.run(() => lists.run(() => operation.run(read)));
    const node = async <Found extends object>(read: () => Promise<Found | null>): Promise<Found | null> => {
      const found = await ownNodes.run(() => operation.run(read));
      if (found !== null) operation.countRead(bytesOfNode(found));
      return found;
    };
    return {
      find: (type, id, anchor) => node(() => graph.find(type, id, anchor)),
      findBy: (type, values, anchor) => node(() => graph.findBy(type, values, anchor)),
      async select(selection) {
        return await list(async () => {
          const page = await graph.select(selection);
          for (const found of page.nodes) operation.countRead(bytesOfNode(found));
          return page;
        });
      },
      count: (selection) => list(() => graph.count(selection)),
      follow: (edge, from, options) => list(async () => countEnds(operation, await graph.follow(edge, from, options))),
      followBack: (edge, to, options) =>
        list(async () => countEnds(operation, await graph.followBack(edge, to, options))),
      write: (work) =>
        operation.run(() =>
          graph.write(async (transaction) => {
            // A change whose client has been told that it took too long is not begun any more.
            operation.signal.throwIfAborted();
            return await work(transaction);
          }),
        ),
      ready: () => graph.ready(),
      close: () => graph.close(),
    };
  };
}

/** A node that several edges lead to is one object. */
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

/** A text with a character outside of Latin-1 takes two bytes for each; which ones have such a character is not known sooner. */
function bytesOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
