import type { Edge, EdgeName, FollowOptions } from './graph.ts';
import { checkAnchor, checkEdge, checkIds, checkLimit } from './node-rules.ts';
import type { TypeName } from './schema.ts';

/** Edges that an engine can follow: every name is in the schema. */
export interface Following {
  readonly from: string;
  readonly edge: string;
  readonly target: string;
  readonly back: boolean;
  /** Null: all workspaces. */
  readonly workspace: string | null;
  /** Without duplicates. */
  readonly ids: readonly string[];
  readonly limitEach: number;
  readonly textMax: number;
}

export function checkFollowing<Type extends TypeName>(
  { from, edge }: Edge<Type, EdgeName<Type>>,
  ids: readonly string[],
  { anchor, limitEach, textMax = Number.POSITIVE_INFINITY }: FollowOptions<Type>,
): Omit<Following, 'back'> {
  checkIds(ids);
  return {
    ...{ from, edge, target: checkEdge(from, edge), workspace: checkAnchor(from, anchor) },
    ...{ ids: [...new Set(ids)], limitEach: checkLimit(limitEach), textMax },
  };
}
