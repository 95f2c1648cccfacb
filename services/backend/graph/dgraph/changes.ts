import type { Following } from '../following.ts';
import type { NodeRecord } from '../node-record.ts';
import type { CheckedSelection } from '../selection-rules.ts';
import { indexOf } from './node-index.ts';
import { predicates, uniqueCombinations } from './predicates.ts';
import { allOf, type Change, changedNodeQuads, edgeQuad, newNodeQuads, wholeNode } from './quads.ts';
import type { StoredNode } from './stored-node.ts';
import { inOrder, legsOf, matches } from './walk.ts';

/** A node that a transaction has written. */
interface Written {
  readonly type: string;
  readonly id: string;
  /** The stored node; null for a new node. */
  readonly before: StoredNode | null;
  /** The node after the transaction; null for a removed node. */
  readonly after: NodeRecord | null;
  /** New, or removed and created again under the same id. */
  readonly isNew: boolean;
}

interface EdgeChange {
  readonly edge: string;
  readonly from: string;
  readonly to: string;
  readonly source: NodeRecord;
  readonly target: NodeRecord;
  readonly isThere: boolean;
}

/** Statements in one request. Dgraph compares each unique statement of a request with every other. */
const quadsMax = 4000;

/** The writes of a transaction. They are kept until its end, and every read of the transaction sees them. */
export class Changes {
  readonly #nodes = new Map<string, Written>();
  readonly #edges = new Map<string, EdgeChange>();
  /** From a unique value (predicate and digest) to the id of the node that this transaction gives it to. */
  readonly #holders = new Map<string, string>();
  /** Stored edges that lead to removed nodes. */
  readonly #incoming: { readonly from: string; readonly predicate: string; readonly to: string }[] = [];

  /** The node after the transaction; null if removed, undefined if the transaction did not write it. */
  written(type: string, id: string): NodeRecord | null | undefined {
    return this.#nodes.get(nameOf(type, id))?.after;
  }

  /** The id of the node that this transaction gives the unique value to. */
  holderOf(predicate: string, digest: string): string | undefined {
    return this.#holders.get(`${predicate} ${digest}`);
  }

  put(node: NodeRecord, before: StoredNode | null): void {
    const known = this.#nodes.get(nameOf(node.type, node.id));
    const first = known === undefined ? before : known.before;
    const isNew = known === undefined ? before === null : known.isNew || known.after === null;
    this.#release(known?.after ?? null);
    this.#nodes.set(nameOf(node.type, node.id), { type: node.type, id: node.id, before: first, after: node, isNew });
    for (const [key, id] of unique(node)) this.#holders.set(key, id);
  }

  remove(
    type: string,
    id: string,
    before: StoredNode | null,
    incoming: readonly { uid: string; predicate: string }[],
  ): void {
    const known = this.#nodes.get(nameOf(type, id));
    const first = known === undefined ? before : known.before;
    this.#release(known?.after ?? null);
    this.#nodes.set(nameOf(type, id), { type, id, before: first, after: null, isNew: false });
    for (const [key, { from, to, source, target }] of this.#edges) {
      const touches = (source.type === type && from === id) || (target.type === type && to === id);
      if (touches) this.#edges.delete(key);
    }
    if (before === null) return;
    for (const { uid, predicate } of incoming) this.#incoming.push({ from: uid, predicate, to: before.uid });
  }

  setEdge(edge: string, source: NodeRecord, target: NodeRecord, isThere: boolean): void {
    const key = `${edge} ${source.id} ${target.id}`;
    const isNew = [source, target].some((node) => this.#nodes.get(nameOf(node.type, node.id))?.isNew);
    // A new node has no stored edge that could be removed.
    if (!isThere && isNew) this.#edges.delete(key);
    else this.#edges.set(key, { edge, from: source.id, to: target.id, source, target, isThere });
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0 && this.#edges.size === 0;
  }

  /** Ids and unique values that this transaction takes, and that another node may already have. */
  get claims(): ReadonlyMap<
    string,
    readonly { readonly predicate: string; readonly digest: string; readonly id: string }[]
  > {
    const claims = [...this.#nodes.values()].flatMap(({ type, before, after, isNew }) => {
      if (after === null) return [];
      const had = before === null || isNew ? new Map<string, string>() : indexOf(before).texts;
      const own = isNew ? [{ type, id: after.id, predicate: predicates.id(type), digest: after.id }] : [];
      return [
        ...own,
        ...digestsOf(after)
          .filter(({ predicate, digest }) => had.get(predicate) !== digest)
          .map((claim) => ({ type, id: after.id, ...claim })),
      ];
    });
    return Map.groupBy(claims, ({ type }) => type);
  }

  /** How many stored nodes of the type this transaction changes. A page reads that many additional nodes. */
  storedOf(type: string): number {
    return [...this.#nodes.values()].filter((node) => node.type === type && node.before !== null).length;
  }

  over(type: string, stored: readonly StoredNode[]): NodeRecord[] {
    return stored.flatMap((node) => {
      const after = this.written(type, node.id);
      return after === undefined ? [node] : after === null ? [] : [after];
    });
  }

  page(selection: CheckedSelection, stored: readonly StoredNode[], limit: number): readonly NodeRecord[] {
    const untouched = stored.filter(({ id }) => this.written(selection.type, id) === undefined);
    const own = this.#ofType(selection.type).flatMap(({ after }) =>
      after !== null && matches(selection, after) ? [after] : [],
    );
    return inOrder<NodeRecord>(legsOf(selection), selection.descending, [...untouched, ...own]).slice(0, limit);
  }

  count(selection: CheckedSelection, stored: number): number {
    const has = (node: NodeRecord | null) => Number(node !== null && matches(selection, node));
    return this.#ofType(selection.type).reduce((sum, { before, after }) => sum - has(before) + has(after), stored);
  }

  /** The nodes at the other ends of one node's edges, ordered by id. */
  ends(
    { from, edge, target, back, workspace, limitEach }: Following,
    id: string,
    stored: readonly StoredNode[],
  ): NodeRecord[] {
    const name = predicates.of(from, edge);
    if (this.written(back ? target : from, id) === null) return [];
    const own = [...this.#edges.values()].filter((one) => one.edge === name && (back ? one.to : one.from) === id);
    const farOf = (one: EdgeChange) => (back ? one.source : one.target);
    const changed = new Set(own.map((one) => farOf(one).id));
    const found = this.over(back ? from : target, stored).filter((node) => !changed.has(node.id));
    for (const one of own) {
      if (!one.isThere || (workspace !== null && one.source.workspace !== workspace)) continue;
      const far = farOf(one);
      const now = this.written(far.type, far.id);
      if (now !== null) found.push(now ?? far);
    }
    return found.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limitEach);
  }

  /** How many stored ends this transaction may hide. A read of edges requests that many additional ones. */
  get hidden(): number {
    return this.#nodes.size + this.#edges.size;
  }

  /** The requests that store the writes: in this order, and all or none. */
  steps(refOf: (node: NodeRecord) => string): readonly Change[] {
    const set: Change['set'][number][] = [];
    const remove: Change['remove'][number][] = [];
    for (const { before, after, isNew } of this.#nodes.values()) {
      if (before !== null && (after === null || isNew)) remove.push(wholeNode(before.uid));
      if (after === null) continue;
      if (before === null || isNew) set.push(...newNodeQuads(refOf(after), after));
      else {
        const changed = changedNodeQuads(before.uid, before, after);
        set.push(...changed.set);
        remove.push(...changed.remove);
      }
    }
    for (const { from, predicate, to } of this.#incoming) remove.push(edgeQuad(from, predicate, to));
    const edges: Change['set'][number][] = [];
    for (const { edge, source, target, isThere } of this.#edges.values()) {
      (isThere ? edges : remove).push(edgeQuad(refOf(source), edge, refOf(target)));
    }
    const freed = this.#freed();
    // A node must give up a unique value before another node takes it.
    const first = freed.length === 0 ? [] : [{ set: [], remove: [...freed, ...remove] }];
    const rest = freed.length === 0 ? remove : [];
    const all = [...set, ...edges];
    const chunks = Array.from({ length: Math.ceil(all.length / quadsMax) }, (_, i) =>
      all.slice(i * quadsMax, (i + 1) * quadsMax),
    );
    const [start = [], ...others] = chunks;
    return [...first, { set: start, remove: rest }, ...others.map((chunk) => ({ set: chunk, remove: [] }))].filter(
      (change) => change.set.length + change.remove.length > 0,
    );
  }

  #freed(): Change['remove'][number][] {
    const given = [...this.#nodes.values()].flatMap(({ type, before, after, isNew }) => {
      if (before === null) return [];
      const kept = after === null || isNew ? new Map<string, string>() : indexOf(after).texts;
      const own = after === null || isNew ? [{ predicate: predicates.id(type), digest: before.id }] : [];
      return [...own, ...digestsOf(before)]
        .filter(({ predicate, digest }) => kept.get(predicate) !== digest)
        .map(({ predicate, digest }) => ({ uid: before.uid, predicate, digest }));
    });
    const taken = new Set([...this.claims.values()].flat().map(({ predicate, digest }) => `${predicate} ${digest}`));
    return given
      .filter(({ predicate, digest }) => taken.has(`${predicate} ${digest}`))
      .map(({ uid, predicate }) => allOf(uid, predicate));
  }

  #release(node: NodeRecord | null): void {
    if (node === null) return;
    for (const [key, id] of unique(node)) if (this.#holders.get(key) === id) this.#holders.delete(key);
  }

  #ofType(type: string): readonly Written[] {
    return [...this.#nodes.values()].filter((node) => node.type === type);
  }
}

export function digestsOf(node: NodeRecord): readonly { readonly predicate: string; readonly digest: string }[] {
  const { texts } = indexOf(node);
  return uniqueCombinations(node.type).flatMap(({ predicate }) => {
    const digest = texts.get(predicate);
    return digest === undefined ? [] : [{ predicate, digest }];
  });
}

function unique(node: NodeRecord): readonly [string, string][] {
  return digestsOf(node).map(({ predicate, digest }) => [`${predicate} ${digest}`, node.id]);
}

function nameOf(type: string, id: string): string {
  return `${type} ${id}`;
}
