import { SvcError } from '../../../contracts/errors.ts';
import { checkFollowing } from '../following.ts';
import type { Edge, EdgeName, EdgeTarget, FollowOptions, Transaction } from '../graph.ts';
import type { NodeRecord } from '../node-record.ts';
import { checkAnchor, checkChanges, checkEdge, checkIds, checkNode, checkUnique, typeNamed } from '../node-rules.ts';
import { changedMeanwhile, notThere, takenBy } from '../refusals.ts';
import { schema, type TypeName } from '../schema.ts';
import { checkSelection } from '../selection-rules.ts';
import { Changes, digestsOf } from './changes.ts';
import { beginMoment, type Moment } from './cluster.ts';
import { Dql, uidList } from './dql.ts';
import { predicates, uniqueCombinations } from './predicates.ts';
import type { Change } from './quads.ts';
import { pageOf } from './read-graph.ts';
import { type Ask, claimOf, Reads } from './reads.ts';
import { listIn, type StoredNode, toNode } from './stored-node.ts';

export interface OpenTransaction {
  readonly transaction: Transaction;
  readonly moment: Moment;
  /** The requests that store the writes, in order. */
  steps(): readonly Change[];
  /** Whether another node has an id or a unique value that this transaction took without looking it up. */
  isTaken(): Promise<boolean>;
  /** Closes the transaction: every later call fails. */
  end(): void;
}

export interface TransactionOptions {
  readonly ask: (moment: Moment) => Ask;
  /** Looks up each unique value when it is taken, so that the call that takes it fails. Otherwise the commit fails. */
  readonly careful: boolean;
}

/** Keeps writes until the commit, so that all of them cost one request. Reads see them at once. */
export function openTransaction({ ask, careful }: TransactionOptions): OpenTransaction {
  const moment = beginMoment();
  const changes = new Changes();
  const stored = new Map<string, StoredNode>();
  let open = true;
  const mustBeOpen = () => {
    if (!open) throw new SvcError('internal', 'A transaction was used after its end.');
  };
  const send = ask(moment);
  const reads = new Reads(async (dql, blocks) => {
    mustBeOpen();
    return send(dql, blocks);
  });

  const nodesOf = async (type: string, ids: readonly string[]): Promise<ReadonlyMap<string, NodeRecord>> => {
    mustBeOpen();
    const unread = ids.filter((id) => changes.written(type, id) === undefined && !stored.has(id));
    for (const node of (await reads.findAll(type, unread)).values()) stored.set(node.id, node);
    const found = ids.flatMap((id): NodeRecord[] => {
      const written = changes.written(type, id);
      const known = written === undefined ? stored.get(id) : written;
      return known == null || known.type !== type ? [] : [known];
    });
    return new Map(found.map((node) => [node.id, node]));
  };
  const nodeOf = async (type: string, id: string, workspace: string | null): Promise<NodeRecord | null> => {
    const node = (await nodesOf(type, [id])).get(id) ?? null;
    return node !== null && workspace !== null && node.workspace !== workspace ? null : node;
  };
  const claim = async (node: NodeRecord, before: NodeRecord | null): Promise<void> => {
    const had = new Map(before === null ? [] : digestsOf(before).map(({ predicate, digest }) => [predicate, digest]));
    const wanted = digestsOf(node).filter(({ predicate, digest }) => had.get(predicate) !== digest);
    for (const { predicate, digest } of wanted) {
      const holder = changes.holderOf(predicate, digest);
      if (holder !== undefined && holder !== node.id) throw taken(node.type, predicate);
    }
    if (!careful) return;
    if (before === null && (await nodeOf(node.type, node.id, null)) !== null)
      throw taken(node.type, predicates.id(node.type));
    for (const holder of await reads.findByDigests(node.type, wanted)) {
      // The values of a node that this transaction wrote were compared above.
      if (holder.id === node.id || changes.written(node.type, holder.id) !== undefined) continue;
      const has = digestsOf(holder);
      const shared = wanted.find((one) =>
        has.some(({ predicate, digest }) => one.predicate === predicate && one.digest === digest),
      );
      if (shared !== undefined) throw taken(node.type, shared.predicate);
    }
  };
  const following = async <Type extends TypeName>(
    { from, edge }: Edge<Type, EdgeName<Type>>,
    ids: readonly string[],
    options: FollowOptions<Type>,
    back: boolean,
  ) => {
    mustBeOpen();
    const asked = { ...checkFollowing({ from, edge }, ids, options), back };
    const found = await reads.follow({ ...asked, limitEach: asked.limitEach + changes.hidden });
    return new Map(asked.ids.map((id) => [id, changes.ends(asked, id, found.get(id) ?? [])] as const));
  };
  const linked = async (from: string, edge: string, source: string, targets: readonly string[]) => {
    const target = checkEdge(from, edge);
    checkIds(targets);
    const [home] = (await nodesOf(from, [source])).values();
    return { home, target, ends: await nodesOf(target, [...new Set(targets)]) };
  };

  return {
    moment,
    end() {
      open = false;
    },
    steps: () => changes.steps((node) => stored.get(node.id)?.uid ?? `_:${node.id}`),
    async isTaken() {
      for (const [type, claims] of changes.claims) {
        const ids = claims.filter(({ predicate }) => predicate === predicates.id(type)).map(({ id }) => id);
        for (const id of (await reads.findAll(type, ids)).keys()) if (!isFreed(type, id)) return true;
        const digests = claims.filter(({ predicate }) => predicate !== predicates.id(type));
        for (const holder of await reads.findByDigests(type, digests)) if (!isFreed(type, holder.id)) return true;
      }
      return false;
    },
    transaction: {
      async find(type, id, anchor) {
        const node = await nodeOf(type, id, checkAnchor(type, anchor));
        return node === null ? null : toNode<typeof type>(node);
      },

      async findBy(type, values, anchor) {
        mustBeOpen();
        const key = checkUnique(type, values, anchor);
        const { predicate, digest } = claimOf(type, key);
        const holder = changes.holderOf(predicate, digest);
        const node = holder === undefined ? await reads.findBy(type, key) : await nodeOf(type, holder, key.workspace);
        if (node === null || (holder === undefined && changes.written(type, node.id) !== undefined)) return null;
        return toNode<typeof type>(node);
      },

      async select(selection) {
        mustBeOpen();
        const checked = checkSelection(selection);
        const wanted = checked.limit + 1;
        const found = await reads.select(checked, wanted + changes.storedOf(checked.type));
        return pageOf(selection.type, checked, changes.page(checked, found, wanted));
      },

      async count(selection) {
        mustBeOpen();
        const checked = checkSelection(selection);
        return changes.count(checked, await reads.count(checked));
      },

      async follow<Type extends TypeName, Name extends EdgeName<Type>>(
        edge: Edge<Type, Name>,
        from: readonly string[],
        options: FollowOptions<Type>,
      ) {
        const found = await following(edge, from, options, false);
        return new Map([...found].map(([id, ends]) => [id, ends.map(toNode<EdgeTarget<Type, Name>>)]));
      },

      async followBack(edge, to, options) {
        const found = await following(edge, to, options, true);
        return new Map([...found].map(([id, ends]) => [id, ends.map(toNode<typeof edge.from>)]));
      },

      async create(type, node) {
        mustBeOpen();
        const values = checkNode(type, node);
        const workspace = 'workspace' in node ? String(node.workspace) : null;
        const record = { type, id: node.id, version: 1, workspace, values };
        if (changes.written(type, node.id) != null) throw taken(type, predicates.id(type));
        await claim(record, null);
        changes.put(record, null);
        return toNode<typeof type>(record);
      },

      async update(type, id, given, { anchor, ifVersion, keepsVersion = false }) {
        const checked = checkChanges(type, given);
        const before = await nodeOf(type, id, checkAnchor(type, anchor));
        if (before === null) throw notThere(type, id);
        if (ifVersion !== undefined && ifVersion !== before.version) {
          throw changedMeanwhile(type, id, { is: before.version, expected: ifVersion });
        }
        const version = before.version + (keepsVersion ? 0 : 1);
        const after = { ...before, version, values: { ...before.values, ...checked } };
        await claim(after, before);
        changes.put(after, stored.get(id) ?? null);
        return toNode<typeof type>(after);
      },

      async remove(type, id, anchor) {
        if ((await nodeOf(type, id, checkAnchor(type, anchor))) === null) return;
        const before = stored.get(id) ?? null;
        changes.remove(type, id, before, before === null ? [] : await incoming(send, before));
      },

      async link({ from, edge }, source, targets) {
        const { home, target, ends } = await linked(from, edge, source, targets);
        if (home === undefined) throw notThere(from, source);
        const isHeld = typeNamed(from).owned && typeNamed(target).owned;
        for (const id of targets) {
          const end = ends.get(id);
          if (end === undefined || (isHeld && end.workspace !== home.workspace)) throw notThere(target, id);
        }
        for (const end of ends.values()) changes.setEdge(predicates.of(from, edge), home, end, true);
      },

      async unlink({ from, edge }, source, targets) {
        const { home, ends } = await linked(from, edge, source, targets);
        if (home === undefined) return;
        for (const end of ends.values()) changes.setEdge(predicates.of(from, edge), home, end, false);
      },
    },
  };

  function isFreed(type: string, id: string): boolean {
    return changes.written(type, id) !== undefined;
  }
}

/** Stored edges that lead to a node: they are removed with it. */
async function incoming(send: Ask, { type, uid }: StoredNode) {
  const names = Object.entries(schema).flatMap(([from, { edges }]) =>
    Object.entries(edges).flatMap(([edge, target]) => (target === type ? [predicates.of(from, edge)] : [])),
  );
  if (names.length === 0) return [];
  const parts = names.map((name, index) => `e${index}: ~${name} { uid }`);
  const { q } = await send(new Dql(), [`q(func: uid(${uidList([uid])})) { ${parts.join(' ')} }`]);
  const [found = {}] = listIn(q);
  return names.flatMap((predicate, index) =>
    listIn(found[`e${index}`]).map((from) => ({ uid: String(from.uid), predicate })),
  );
}

function taken(type: string, predicate: string): SvcError {
  return takenBy(type, uniqueCombinations(type).find((one) => one.predicate === predicate)?.fields ?? ['id']);
}
