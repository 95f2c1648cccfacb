import { formatCursor } from '../cursor.ts';
import { checkFollowing } from '../following.ts';
import type { Edge, EdgeName, EdgeTarget, FollowOptions, Graph, Page } from '../graph.ts';
import type { NodeRecord } from '../node-record.ts';
import { checkAnchor, checkUnique } from '../node-rules.ts';
import { tooMuchText } from '../refusals.ts';
import type { TypeName } from '../schema.ts';
import { type CheckedSelection, checkSelection } from '../selection-rules.ts';
import type { Reads } from './reads.ts';
import { toNode } from './stored-node.ts';

/** Each read checks its arguments, queries Dgraph and makes nodes of the records. */
export function readGraph(reads: Reads): Pick<Graph, 'find' | 'findBy' | 'select' | 'count' | 'follow' | 'followBack'> {
  return {
    async find(type, id, anchor) {
      const workspace = checkAnchor(type, anchor);
      const node = await reads.find(type, id);
      return node === null || (workspace !== null && node.workspace !== workspace) ? null : toNode<typeof type>(node);
    },

    async findBy(type, values, anchor) {
      const node = await reads.findBy(type, checkUnique(type, values, anchor));
      return node === null ? null : toNode<typeof type>(node);
    },

    async select(selection) {
      const checked = checkSelection(selection);
      return pageOf(selection.type, checked, await reads.select(checked, checked.limit + 1));
    },

    async count(selection) {
      return reads.count(checkSelection(selection));
    },

    async follow<Type extends TypeName, Name extends EdgeName<Type>>(
      edge: Edge<Type, Name>,
      from: readonly string[],
      options: FollowOptions<Type>,
    ) {
      const following = { ...checkFollowing(edge, from, options), back: false };
      const found = await reads.follow(following);
      checkText(found, following.textMax);
      return new Map(following.ids.map((id) => [id, (found.get(id) ?? []).map(toNode<EdgeTarget<Type, Name>>)]));
    },

    async followBack(edge, to, options) {
      const following = { ...checkFollowing(edge, to, options), back: true };
      const found = await reads.follow(following);
      checkText(found, following.textMax);
      return new Map(following.ids.map((id) => [id, (found.get(id) ?? []).map(toNode<typeof edge.from>)]));
    },
  };
}

/** Dgraph cannot stop at a size, so the characters are counted in its answer. */
function checkText(found: ReadonlyMap<string, readonly NodeRecord[]>, max: number): void {
  let length = 0;
  for (const node of new Set([...found.values()].flat())) {
    for (const value of Object.values(node)) if (typeof value === 'string') length += value.length;
  }
  if (length > max) throw tooMuchText(max);
}

/** `found` has one node more than the page if there is a next page. */
export function pageOf<Type extends TypeName>(
  type: Type,
  { orderBy, descending, limit }: CheckedSelection,
  found: readonly NodeRecord[],
): Page<Type> {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const nodes = page.map(toNode<Type>);
  if (found.length <= limit || last === undefined) return { nodes, next: null };
  const value = orderBy === 'id' ? null : (last.values[orderBy] ?? null);
  return { nodes, next: formatCursor({ type, orderBy, descending }, { value, id: last.id }) };
}
