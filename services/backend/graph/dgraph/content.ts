import { SvcError } from '../../../contracts/errors.ts';
import type { EdgeRecord, GraphContent } from '../content.ts';
import { pageMax } from '../graph.ts';
import type { NodeRecord } from '../node-record.ts';
import { checkEdge } from '../node-rules.ts';
import { beginMoment, Cluster, type ClusterOptions } from './cluster.ts';
import { Dql, uidList } from './dql.ts';
import { migrate, readTypes } from './migrate.ts';
import { isIndex, predicates } from './predicates.ts';
import { type Change, edgeQuad, newNodeQuads } from './quads.ts';
import { schemaText, storedTypes, withoutLooks } from './storage.ts';
import { listIn, nodeFields, nodesIn } from './stored-node.ts';

/** Nodes, or edges, in one request, and the number of concurrent requests. */
const nodesAtOnce = 500;
const edgesAtOnce = 2000;
const requestsAtOnce = 4;
/** A large request on a busy machine. */
const requestMs = 120_000;

export interface DgraphContentOptions extends ClusterOptions {
  /**
   * True: reads a snapshot of the moment of opening, even while a backend writes. False: no backend may use the graph.
   */
  readonly readOnly: boolean;
}

/** A graph in Dgraph, to read or to fill. */
export async function openDgraphContent({ readOnly, ...options }: DgraphContentOptions): Promise<GraphContent> {
  const cluster = new Cluster({ requestMs, ...options });
  // Every page is read at the timestamp of the first answer.
  const moment = readOnly ? beginMoment() : null;
  try {
    const present = await readTypes(cluster, moment);
    // An empty Dgraph is about to be filled. `finish` makes it a graph that a backend accepts.
    if (readOnly) knownTypes(present);
    else if (present.size === 0) await cluster.alter(schemaText(withoutLooks(storedTypes())));
    else await migrate(cluster, knownTypes(present));
  } catch (thrown) {
    cluster.close();
    throw thrown;
  }
  /** From the id of an added node to its uid. */
  const uids = new Map<string, string>();

  /** Pages in the order of uids. Reads the next page while the caller works on this one. */
  async function* pages(root: string, fields: string): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
    const ask = async (after: string) => {
      const block = `q(func: ${root}, first: ${pageMax}, after: ${uidList([after])}) { ${fields} }`;
      return listIn((await cluster.ask(new Dql(), [block], moment)).q);
    };
    for (let asked = ask('0x0'); ; ) {
      const page = await asked;
      const last = page.length < pageMax ? undefined : page.at(-1);
      if (last !== undefined) asked = ask(String(last.uid));
      // A caller that stops early does not wait for the next page.
      asked.catch(() => undefined);
      yield page;
      if (last === undefined) return;
    }
  }

  return {
    async *nodes(type) {
      for await (const page of pages(`type(${type})`, nodeFields(type))) {
        for (const { uid: _uid, ...node } of nodesIn(type, page)) yield node;
      }
    },
    async *edges(from, edge) {
      const ends = `uid id: ${predicates.id(from)} ends: ${predicates.of(from, edge)} { id: ${predicates.id(checkEdge(from, edge))} }`;
      for await (const page of pages(`has(${predicates.of(from, edge)})`, ends)) {
        for (const { id: source, ends } of page) {
          if (typeof source !== 'string') continue;
          for (const { id: target } of listIn(ends)) if (typeof target === 'string') yield { source, target };
        }
      }
    },
    async addNodes(nodes) {
      await inRequests(nodes, nodesAtOnce, async (some: readonly NodeRecord[]) => {
        const set = some.flatMap((node) => newNodeQuads(`_:${node.id}`, node));
        const made = await cluster.commit(beginMoment(), [{ set, remove: [] }]);
        for (const { id } of some) uids.set(id, made.get(`_:${id}`) ?? '');
      });
    },
    async addEdges(from, edge, edges) {
      await inRequests(edges, edgesAtOnce, async (some: readonly EdgeRecord[]) => {
        const set: Change['set'] = some.map(({ source, target }) =>
          edgeQuad(uidOf(source), predicates.of(from, edge), uidOf(target)),
        );
        await cluster.commit(beginMoment(), [{ set, remove: [] }]);
      });
    },
    async finish() {
      await migrate(cluster, storedTypes());
    },
    async close() {
      cluster.close();
    },
  };

  function uidOf(id: string): string {
    const uid = uids.get(id);
    if (uid === undefined || uid === '') throw new Error(`an edge leads to or from "${id}", which was not added`);
    return uid;
  }
}

/** Refuses a graph of a newer version: this version would silently leave out the values that it does not know. */
function knownTypes(present: Awaited<ReturnType<typeof readTypes>>): ReturnType<typeof storedTypes> {
  const types = storedTypes();
  const known = new Set(types.flatMap(({ predicates }) => [...predicates.keys()]));
  const newer = [...present.values()]
    .flatMap(({ predicates }) => [...predicates.keys()])
    .find((one) => !known.has(one) && !isIndex(one));
  if (newer === undefined) return types;
  throw new SvcError('unsupported', `The graph database has a "${newer}", which this version does not know.`, {
    hint: 'Use the version of the platform that wrote it, or a newer one.',
  });
}

/** Sends several requests at once, each with `size` items. */
async function inRequests<Item>(
  items: AsyncIterable<Item>,
  size: number,
  send: (some: readonly Item[]) => Promise<void>,
): Promise<void> {
  const under = new Set<Promise<void>>();
  let some: Item[] = [];
  const begin = async () => {
    if (some.length === 0) return;
    while (under.size >= requestsAtOnce) await Promise.race(under);
    const sending = send(some).finally(() => under.delete(sending));
    under.add(sending);
    some = [];
  };
  try {
    for await (const item of items) {
      some.push(item);
      if (some.length === size) await begin();
    }
    await begin();
    await Promise.all(under);
  } catch (thrown) {
    await Promise.allSettled(under);
    throw thrown;
  }
}
