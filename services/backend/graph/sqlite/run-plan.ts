import { edgesMax } from '../graph.ts';
import { tooManyEdges } from '../refusals.ts';
import type { Connection, Row } from './connection.ts';
import type { FollowPlan, RowsPlan } from './read-plan.ts';
import type { Sql } from './sql.ts';

export interface Followed {
  /** Each node once, however many edges lead to it. */
  readonly rows: readonly Row[];
  /** For each id that was asked for, in order: places in `rows`. */
  readonly ends: readonly (readonly number[])[];
}

export function runRows(connection: Connection, plan: RowsPlan): Row[] {
  if (plan.steps.length === 1 && plan.shortcuts.length === 0) return runSteps(connection, plan.steps, plan.limit);
  return connection.snapshot(() => runSteps(connection, chosenSteps(connection, plan), plan.limit));
}

/** What a straight plan gives where that is at most `max` rows, else null: the look costs no more than those. */
export function runFew(connection: Connection, plan: RowsPlan, max: number): Row[] | null {
  if (!plan.straight) return null;
  const rows = connection.snapshot(() => runSteps(connection, plan.steps, Math.min(plan.limit, max + 1)));
  return rows.length <= max ? rows : null;
}

/** As `runFew`, for edges. */
export function followFew(connection: Connection, plan: FollowPlan, max: number): Followed | null {
  if (plan.ids.length > max) return null;
  const limitEach = Math.min(plan.limitEach, max + 1);
  const followed = connection.snapshot(() => follow(connection, { ...plan, limitEach }, max));
  return followed?.ends.every((ends) => ends.length < limitEach || limitEach === plan.limitEach) ? followed : null;
}

export function runFollow(connection: Connection, plan: FollowPlan): Followed {
  const followed = connection.snapshot(() => follow(connection, plan, edgesMax));
  if (followed !== null) return followed;
  throw tooManyEdges(edgesMax);
}

/** Null as soon as there are more ends than `max`. */
function follow(connection: Connection, { ends, node, ids, limitEach }: FollowPlan, max: number): Followed | null {
  const rows: Row[] = [];
  const places = new Map<string, number | null>();
  let total = 0;
  const place = (id: string) => {
    const known = places.get(id);
    if (known !== undefined) return known;
    const row = connection.row(node, [id]);
    const found = row === null ? null : rows.push(row) - 1;
    places.set(id, found);
    return found;
  };
  const found: number[][] = [];
  for (const id of ids) {
    const others = connection.rows(ends.sql, [...ends.values, id, limitEach]);
    total += others.length;
    if (total > max) return null;
    found.push(others.map(([other]) => place(String(other))).filter((other) => other !== null));
  }
  return { rows, ends: found };
}

function chosenSteps(connection: Connection, plan: RowsPlan): readonly Sql[] {
  for (const { probe, candidatesMax, steps } of plan.shortcuts) {
    const [row] = runSteps(connection, [probe], 1);
    if (Number(row?.[0]) <= candidatesMax) return steps;
  }
  return plan.steps;
}

function runSteps(connection: Connection, steps: readonly Sql[], limit: number): Row[] {
  let rows: Row[] = [];
  for (const { sql, values } of steps) {
    const more = connection.rows(sql, [...values, limit - rows.length]);
    rows = rows.length === 0 ? more : [...rows, ...more];
    if (rows.length === limit) break;
  }
  return rows;
}
