import type { Following } from '../following.ts';
import { edgesMax } from '../graph.ts';
import type { UniqueKey } from '../node-rules.ts';
import { tooManyEdges } from '../refusals.ts';
import type { CheckedCondition, CheckedSelection } from '../selection-rules.ts';
import { Dql, uidList } from './dql.ts';
import { type FenceLevel, fenceLevels, fenceOf, fenceSpacing, keyOf, marks, uniqueDigest } from './node-index.ts';
import { compareKeys, type Stretch, stretches } from './order-key.ts';
import { predicates, uniqueCombinations } from './predicates.ts';
import { countIn, listIn, nodeFields, nodesIn, type StoredNode } from './stored-node.ts';
import { inOrder, isEverywhere, isOn, type Leg, legsOf, matches, stretchOf } from './walk.ts';

/** Sends a query about the present, or about the start of a transaction. */
export type Ask = (dql: Dql, blocks: readonly string[]) => Promise<Readonly<Record<string, unknown>>>;

/**
 * At most this many keys are sorted here. A larger selection is read along the index of its order. Sorting that many
 * costs about as much as a walk in which one node in fifty is selected.
 */
const candidatesMax = 2000;
/** Each further piece of an index is this many times as long, so that few steps find rare nodes. */
const widening = 4;
/** Keys of one piece. */
const pieceMax = 16_384;

/** The reads of Dgraph, each with as few queries as the indexes allow. The caller has checked the arguments. */
export class Reads {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async find(type: string, id: string): Promise<StoredNode | null> {
    return (await this.findAll(type, [id])).get(id) ?? null;
  }

  async findAll(type: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredNode>> {
    if (ids.length === 0) return new Map();
    const dql = new Dql();
    const root = `eq(${predicates.id(type)}, ${dql.list([...new Set(ids)])})`;
    const { q } = await this.#ask(dql, [`q(func: ${root}) { ${nodeFields(type)} }`]);
    return new Map(nodesIn(type, q).map((node) => [node.id, node]));
  }

  async findBy(type: string, key: UniqueKey): Promise<StoredNode | null> {
    const [found] = await this.findByDigests(type, [claimOf(type, key)]);
    return found === undefined || (key.workspace !== null && found.workspace !== key.workspace) ? null : found;
  }

  /** Nodes that have one of these unique values. */
  async findByDigests(
    type: string,
    taken: readonly { readonly predicate: string; readonly digest: string }[],
  ): Promise<readonly StoredNode[]> {
    const dql = new Dql();
    const blocks = [...Map.groupBy(taken, ({ predicate }) => predicate)].map(
      ([predicate, some], index) =>
        `q${index}(func: eq(${predicate}, ${dql.list(some.map(({ digest }) => digest))})) { ${nodeFields(type)} }`,
    );
    if (blocks.length === 0) return [];
    const answer = await this.#ask(dql, blocks);
    return blocks.flatMap((_, index) => nodesIn(type, answer[`q${index}`]));
  }

  /** At most `limit` nodes, in order. */
  async select(selection: CheckedSelection, limit: number): Promise<readonly StoredNode[]> {
    if (isImpossible(selection)) return [];
    const legs = legsOf(selection);
    const found: StoredNode[] = [];
    // The first piece fills a page of frequent nodes. Rare nodes are looked up by their marks.
    let isRare = this.#isChosen(selection);
    for (const leg of legs) {
      for await (const piece of this.#along(selection, leg, () => limit - found.length)) {
        found.push(...inOrder([leg], selection.descending, piece));
        if (found.length >= limit) return found.slice(0, limit);
        const few = isRare ? await this.#fewOf(selection, legs, limit) : null;
        if (few !== null) return few;
        isRare = false;
      }
    }
    return found;
  }

  async count(selection: CheckedSelection): Promise<number> {
    if (isImpossible(selection)) return 0;
    const dql = new Dql();
    const set = setOf(dql, selection);
    if (set !== null) {
      const answer = await this.#ask(dql, [...set.variables, `n(func: ${set.root}) ${set.filter} { count(uid) }`]);
      return countIn(answer.n);
    }
    let count = 0;
    for (const leg of legsOf(selection)) {
      for await (const piece of this.#along(selection, leg, () => pieceMax)) count += piece.length;
    }
    return count;
  }

  /** For each existing node: its id, and the nodes at the other ends of its edges. */
  async follow(following: Following): Promise<ReadonlyMap<string, readonly StoredNode[]>> {
    const { from, edge, target, back, workspace, ids, limitEach } = following;
    if (ids.length === 0) return new Map();
    const [near, far] = back ? [target, from] : [from, target];
    const name = `${back ? '~' : ''}${predicates.of(from, edge)}`;
    const ask = async (ends: (filter: string) => string) => {
      const dql = new Dql();
      const scope =
        workspace === null ? '' : `@filter(eq(${predicates.marks(from)}, ${dql.value(marks.workspace(workspace))}))`;
      const root = `eq(${predicates.id(near)}, ${dql.list(ids)})`;
      const [outside, inside] = back ? ['', scope] : [scope, ''];
      const { q } = await this.#ask(dql, [
        `q(func: ${root}) ${outside} { id: ${predicates.id(near)} ${ends(inside)} }`,
      ]);
      return listIn(q);
    };
    if (ids.length * limitEach > edgesMax) {
      const counted = await ask((filter) => `n: count(${name} ${filter})`);
      const all = counted.reduce((sum, { n }) => sum + Math.min(Number(n), limitEach), 0);
      if (all > edgesMax) {
        throw tooManyEdges(edgesMax);
      }
    }
    const order = `(orderasc: ${predicates.id(far)}, first: ${limitEach})`;
    const found = await ask((filter) => `ends: ${name} ${filter} ${order} { ${nodeFields(far)} }`);
    return new Map(found.map(({ id, ends }) => [String(id), nodesIn(far, ends)]));
  }

  /** Whether conditions or words select nodes, and not the order alone. */
  #isChosen(selection: CheckedSelection): boolean {
    const [only, ...others] = selection.conditions;
    if (selection.words.length > 0 || others.length > 0) return true;
    const { orderBy, workspace } = selection;
    if (only === undefined) return false;
    if (isEverywhere(selection)) return true;
    return orderBy === 'id'
      ? only.kind !== 'in' || only.values.length > 1
      : stretchOf(only, orderBy, workspace ?? '') === null;
  }

  /** The page sorted here; null if there are too many candidates, or an index cannot answer a condition. */
  async #fewOf(
    selection: CheckedSelection,
    legs: readonly Leg[],
    limit: number,
  ): Promise<readonly StoredNode[] | null> {
    const dql = new Dql();
    const set = setOf(dql, selection);
    if (set === null) return null;
    const keys = [...new Set(legs.map(({ predicate }) => predicate))].map((predicate) => `key: ${predicate}`);
    const answer = await this.#ask(dql, [
      ...set.variables,
      `c as var(func: ${set.root}) ${set.filter}`,
      `q(func: uid(c), first: ${candidatesMax + 1}) { uid ${keys.join(' ')} }`,
    ]);
    const candidates = listIn(answer.q);
    if (candidates.length > candidatesMax) return null;
    const direction = selection.descending ? -1 : 1;
    const chosen = candidates
      .flatMap(({ uid, key }) => {
        const at = legs.findIndex((leg) => isOn(leg, String(key)));
        return at === -1 ? [] : [{ uid: String(uid), key: String(key), at }];
      })
      .sort((one, other) => one.at - other.at || direction * compareKeys(one.key, other.key))
      .slice(0, limit);
    if (chosen.length === 0) return [];
    const uids = uidList(chosen.map(({ uid }) => uid));
    const { q } = await this.#ask(new Dql(), [`q(func: uid(${uids})) { ${nodeFields(selection.type)} }`]);
    return inOrder(legs, selection.descending, nodesIn(selection.type, q));
  }

  /** The selected nodes along a leg, piece by piece, in order. */
  async *#along(selection: CheckedSelection, leg: Leg, wanted: () => number): AsyncGenerator<readonly StoredNode[]> {
    const { type, descending } = selection;
    let { stretch: rest, behind } = leg;
    for (let factor = 1; compareKeys(rest.from, rest.to) <= 0; factor *= widening) {
      const keys = Math.min(wanted() * factor, pieceMax);
      const fence = await this.#fence(type, leg, rest, { descending, keys });
      const [piece, beyond] = fence === null ? [rest, null] : parted(rest, fence, descending);
      const found = await this.#piece(selection, leg, piece);
      yield found.filter((node) => keyOf(node, leg.by) !== behind);
      if (beyond === null) return;
      // The node at the fence is in both pieces.
      behind = fence;
      rest = beyond;
    }
  }

  /** The key that ends a piece of about `keys` keys; null if the stretch has no more than that. */
  async #fence(
    type: string,
    { by }: Leg,
    stretch: Stretch,
    { descending, keys }: { readonly descending: boolean; readonly keys: number },
  ): Promise<string | null> {
    let reach = stretch;
    let fence: string | null = null;
    for (const level of fenceLevels.toReversed()) {
      const fences = await this.#fences(type, by, level, reach);
      const inTurn = descending ? fences.toReversed() : fences;
      // Two fences more than on average: they are randomly spaced, and a second step costs more than a few keys.
      const found = inTurn[Math.ceil(keys / fenceSpacing ** level) + 1];
      if (found === undefined) continue;
      fence = found;
      reach = descending ? { ...stretch, from: found } : { ...stretch, to: found };
    }
    return fence;
  }

  async #fences(type: string, by: string, level: FenceLevel, { from, to }: Stretch): Promise<readonly string[]> {
    const dql = new Dql();
    const predicate = predicates.fences(type);
    const [start, end] = [fenceOf(level, by, from), fenceOf(level, by, to)];
    const { q } = await this.#ask(dql, [
      `q(func: between(${predicate}, ${dql.value(start)}, ${dql.value(end)})) { fences: ${predicate} }`,
    ]);
    const beginning = fenceOf(level, by, '');
    return listIn(q)
      .flatMap(({ fences }) => (Array.isArray(fences) ? fences.map(String) : []))
      .filter((fence) => fence.startsWith(beginning))
      .map((fence) => fence.slice(beginning.length))
      .filter((key) => compareKeys(key, from) > 0 && compareKeys(key, to) < 0)
      .sort(compareKeys);
  }

  async #piece(selection: CheckedSelection, { predicate }: Leg, { from, to }: Stretch): Promise<readonly StoredNode[]> {
    const dql = new Dql();
    const root = `between(${predicate}, ${dql.value(from)}, ${dql.value(to)})`;
    const filter = filterOf(marksOf(dql, selection));
    const { q } = await this.#ask(dql, [`q(func: ${root}) ${filter} { ${nodeFields(selection.type)} }`]);
    return nodesIn(selection.type, q).filter((node) => matches(selection, node));
  }
}

/** The predicate and digest of a unique value in Dgraph. */
export function claimOf(type: string, { fields, values, workspace }: UniqueKey) {
  const combination = uniqueCombinations(type).find((one) => one.fields.join() === fields.join());
  const given = Object.fromEntries(fields.map((field, index) => [field, values[index] ?? null]));
  const digest = combination === undefined ? null : uniqueDigest({ workspace, values: given }, combination);
  if (combination === undefined || digest === null) throw new Error(`a ${type} is not unique by ${fields.join()}`);
  return { predicate: combination.predicate, digest };
}

interface NodeSet {
  readonly variables: readonly string[];
  readonly root: string;
  readonly filter: string;
}

/** All nodes of a selection, over all pages; null if no index answers a condition exactly. */
function setOf(dql: Dql, selection: CheckedSelection): NodeSet | null {
  const { type, workspace, conditions } = selection;
  const scope = workspace ?? '';
  const ranges = conditions.filter(({ kind }) => kind !== 'in');
  if (ranges.length > 0 && isEverywhere(selection)) return null;
  const variables = ranges.map((condition, index) => {
    const { from, to } = stretchOf(condition, condition.field, scope) ?? stretches.withValue(scope);
    const root = `between(${predicates.order(type, condition.field)}, ${dql.value(from)}, ${dql.value(to)})`;
    return `r${index} as var(func: ${root})`;
  });
  const terms = [
    ...marksOf(dql, selection),
    ...(workspace === null ? [] : [`eq(${predicates.marks(type)}, ${dql.value(marks.workspace(workspace))})`]),
    ...ranges.map((_, index) => `uid(r${index})`),
  ];
  const [root = `type(${type})`, ...others] = terms;
  return { variables, root, filter: filterOf(others) };
}

/** The conditions and words that the index of marks answers. */
function marksOf(dql: Dql, { type, conditions, words }: CheckedSelection): readonly string[] {
  const predicate = predicates.marks(type);
  return [
    ...conditions.flatMap(({ field, ...condition }) =>
      condition.kind === 'in'
        ? [`eq(${predicate}, ${dql.list(condition.values.map((value) => marks.value(field, value)))})`]
        : [],
    ),
    ...words.map((word) => `eq(${predicate}, ${dql.value(marks.word(word))})`),
  ];
}

function filterOf(terms: readonly string[]): string {
  return terms.length === 0 ? '' : `@filter(${terms.join(' AND ')})`;
}

/** `in` with an empty list selects nothing. */
function isImpossible({ conditions }: CheckedSelection): boolean {
  return conditions.some((condition: CheckedCondition) => condition.kind === 'in' && condition.values.length === 0);
}

/** The piece up to the fence and the rest, in the direction of the walk. */
function parted({ from, to }: Stretch, fence: string, descending: boolean): [Stretch, Stretch] {
  const [low, high] = [
    { from, to: fence },
    { from: fence, to },
  ];
  return descending ? [high, low] : [low, high];
}
