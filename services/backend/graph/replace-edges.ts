import type { Anchor, Edge, EdgeName, EdgeTarget, Node, NodeId, Transaction } from './graph.ts';
import { pageMax } from './graph.ts';
import type { TypeName } from './schema.ts';

export interface EdgeEnds<Type extends TypeName> {
  readonly from: NodeId<Type>;
  readonly anchor: Anchor<Type>;
  /** At most `pageMax`: the limits of the callers ensure it. */
  readonly to: readonly string[];
}

/** Replaces the edges of a node by edges to `to`. Returns the ends before and after. */
export async function replaceEdges<Type extends TypeName, Name extends EdgeName<Type>>(
  transaction: Transaction,
  edge: Edge<Type, Name>,
  { from, anchor, to }: EdgeEnds<Type>,
): Promise<Ends<Type, Name>> {
  const before = await endsOf(transaction, edge, from, anchor);
  const present = new Set<string>(before.map(({ id }) => id));
  const wanted = new Set(to);
  const added = [...wanted].filter((id) => !present.has(id));
  const removed = [...present].filter((id) => !wanted.has(id));
  if (added.length > 0) await transaction.link(edge, from, added);
  if (removed.length > 0) await transaction.unlink(edge, from, removed);
  const changed = added.length + removed.length > 0;
  return { before, after: changed ? await endsOf(transaction, edge, from, anchor) : before, changed };
}

interface Ends<Type extends TypeName, Name extends EdgeName<Type>> {
  readonly before: readonly Node<EdgeTarget<Type, Name>>[];
  readonly after: readonly Node<EdgeTarget<Type, Name>>[];
  readonly changed: boolean;
}

async function endsOf<Type extends TypeName, Name extends EdgeName<Type>>(
  transaction: Transaction,
  edge: Edge<Type, Name>,
  from: NodeId<Type>,
  anchor: Anchor<Type>,
) {
  const ends = await transaction.follow(edge, [from], { anchor, limitEach: pageMax });
  return ends.get(from) ?? [];
}
