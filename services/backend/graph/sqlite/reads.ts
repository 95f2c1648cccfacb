import { giveWay } from '../../../kit/give-way.ts';
import { formatCursor } from '../cursor.ts';
import { checkFollowing } from '../following.ts';
import type { Edge, EdgeName, EdgeTarget, FollowOptions, Graph, Page, Selection } from '../graph.ts';
import { checkAnchor, checkUnique, checkValue, fieldKind } from '../node-rules.ts';
import type { TypeName } from '../schema.ts';
import { type CheckedSelection, checkSelection } from '../selection-rules.ts';
import type { Row } from './connection.ts';
import { type FollowPlan, findByPlan, findPlan, followPlan, type RowsPlan } from './read-plan.ts';
import { endsOf, nodeOf, nodesOf } from './rows.ts';
import type { Followed } from './run-plan.ts';
import { countPlan, selectPlan } from './select-plan.ts';

export type Reads = Pick<Graph, 'find' | 'findBy' | 'select' | 'count' | 'follow' | 'followBack'>;

/** Runs plans: in a transaction, outside of it, or in another thread. */
export interface Runner {
  /** At most one node, by a unique index. */
  point(plan: RowsPlan): Promise<readonly Row[]>;
  rows(plan: RowsPlan): Promise<readonly Row[]>;
  follow(plan: FollowPlan): Promise<Followed>;
}

/** Each read checks its arguments, makes a plan, runs it and makes nodes of the rows. */
export function readsOn(runner: Runner): Reads {
  const [point, rows, follow] = [givingWay(runner.point), givingWay(runner.rows), givingWay(runner.follow)];
  return {
    async find(type, id, anchor) {
      const [row] = await point(findPlan(type, id, checkAnchor(type, anchor)));
      return nodeOf(type, row);
    },

    async findBy(type, values, anchor) {
      const [row] = await point(findByPlan(type, checkUnique(type, values, anchor)));
      return nodeOf(type, row);
    },

    async select(selection) {
      const checked = checkSelection(selection);
      return pageOf(selection, checked, await rows(selectPlan(checked)));
    },

    async count(selection) {
      const [row] = await rows(countPlan(checkSelection(selection)));
      return Number(row?.[0]);
    },

    async follow<Type extends TypeName, Name extends EdgeName<Type>>(
      edge: Edge<Type, Name>,
      from: readonly string[],
      options: FollowOptions<Type>,
    ) {
      const following = checkFollowing(edge, from, options);
      const plan = followPlan({ ...following, back: false });
      return endsOf<EdgeTarget<Type, Name>>(following.target, plan, await follow(plan));
    },

    async followBack(edge, to, options) {
      const plan = followPlan({ ...checkFollowing(edge, to, options), back: true });
      return endsOf(edge.from, plan, await follow(plan));
    },
  };
}

function givingWay<Plan, Found>(run: (plan: Plan) => Promise<Found>): (plan: Plan) => Promise<Found> {
  return async (plan) => {
    await giveWay();
    return run(plan);
  };
}

function pageOf<Type extends TypeName>(
  selection: Selection<Type>,
  { type, orderBy, descending, limit }: CheckedSelection,
  rows: readonly Row[],
): Page<Type> {
  const nodes = nodesOf<Type>(selection.type, rows.slice(0, limit));
  const last: Readonly<Record<string, unknown>> | undefined = nodes.at(-1);
  if (rows.length <= limit || last === undefined) return { nodes, next: null };
  const value = orderBy === 'id' ? null : checkValue(type, orderBy, fieldKind(type, orderBy), last[orderBy]);
  return { nodes, next: formatCursor({ type, orderBy, descending }, { value, id: String(last.id) }) };
}
