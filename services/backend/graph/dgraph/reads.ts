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

/** Sends a query: as of now, or as of the moment of a transaction. */
export type Ask = (dql: Dql, blocks: readonly string[]) => Promise<Readonly<Record<string, unknown>>>;

/**
 * So many nodes are sorted here, by their keys; of more, a page is looked for along the index that is in its order. A set of that size and a
 * walk that finds one in fifty cost about the same.
 */
const candidatesMax = 2000;
/** Where a piece of an index had too few, the next is so many times as long: what is rare is found in few steps. */
const widening = 4;
/** Keys that one step reads at most. */
const pieceMax = 16_384;

/** What is read from Dgraph, each in as few questions as its indexes allow. Whatever goes in was checked before. */
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

  /** Nodes that have any of these unique values. */
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

  /** In order, as many as there are up to `limit`. */
  async select(selection: CheckedSelection, limit: number): Promise<readonly StoredNode[]> {
    if (isImpossible(selection)) return [];
    const legs = legsOf(selection);
    const found: StoredNode[] = [];
    // Of what is frequent a first piece fills the page; what is rare is looked for by itself.
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

  /** For each id that has a node there, by place of asking: the nodes at the other ends. */
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

  /** Whether anything but the order decides which nodes there are. */
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

  /** Null where they are too many to be sorted here, or not all conditions can be asked of an index. */
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

  /** Piece by piece, in order, whatever of a leg the selection has. */
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
      // The node at the fence is in both.
      behind = fence;
      rest = beyond;
    }
  }

  /** A key behind which about so many of the stretch are left out; null where all of it is about that many. */
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
      // Two more than on the average: fences lie there by chance, and a second step costs more than some keys.
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

/** What a node with these unique values has in Dgraph. */
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

/** All nodes of a selection, whatever its page; null where a condition is none that an index answers exactly. */
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

/** What can be asked of the index of marks. */
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

/** One of no values is none. */
function isImpossible({ conditions }: CheckedSelection): boolean {
  return conditions.some((condition: CheckedCondition) => condition.kind === 'in' && condition.values.length === 0);
}

/** What comes first, and what comes then. */
function parted({ from, to }: Stretch, fence: string, descending: boolean): [Stretch, Stretch] {
  const [low, high] = [
    { from, to: fence },
    { from: fence, to },
  ];
  return descending ? [high, low] : [low, high];
}
