import { edgesMax } from '../graph.ts';
import { tooManyEdges, tooMuchText } from '../refusals.ts';
import type { Connection, Row } from './connection.ts';
import type { FollowPlan, RowsPlan } from './read-plan.ts';
import type { Sql } from './sql.ts';

export interface Followed {
  /** Each node once, however many edges lead to it. */
  readonly rows: readonly Row[];
  /** For each requested id, in order: the indexes of its ends in `rows`. */
  readonly ends: readonly (readonly number[])[];
}

export function runRows(connection: Connection, plan: RowsPlan): Row[] {
  if (plan.steps.length === 1 && plan.shortcuts.length === 0) return runSteps(connection, plan.steps, plan.limit);
  return connection.snapshot(() => runSteps(connection, chosenSteps(connection, plan), plan.limit));
}

/** A read of so little takes a fraction of a millisecond. */
export interface Few {
  readonly rows: number;
  /** Characters of all texts. */
  readonly textLength: number;
}

/** The rows of a straight plan if they are few, else null. Trying costs no more than reading a few. */
export function runFew(connection: Connection, plan: RowsPlan, few: Few): Row[] | null {
  if (!plan.straight) return null;
  const rows: Row[] = [];
  let textLength = 0;
  return connection.snapshot(() => {
    for (const { sql, values } of plan.steps) {
      for (const row of connection.eachRow(sql, [...values, plan.limit - rows.length])) {
        textLength += textLengthOf(row);
        if (rows.push(row) > few.rows || textLength > few.textLength) return null;
      }
      if (rows.length === plan.limit) break;
    }
    return rows;
  });
}

/** Like `runFew`, for edges. */
export function followFew(connection: Connection, plan: FollowPlan, few: Few): Followed | null {
  if (plan.ids.length > few.rows) return null;
  const limitEach = Math.min(plan.limitEach, few.rows + 1);
  const max = { ...few, textLength: Math.min(few.textLength, plan.textMax) };
  const followed = connection.snapshot(() => follow(connection, { ...plan, limitEach }, max));
  if (typeof followed === 'string') return null;
  return followed.ends.every((ends) => ends.length < limitEach || limitEach === plan.limitEach) ? followed : null;
}

export function runFollow(connection: Connection, plan: FollowPlan): Followed {
  const max = { rows: edgesMax, textLength: plan.textMax };
  const followed = connection.snapshot(() => follow(connection, plan, max));
  if (followed === 'too_many') throw tooManyEdges(edgesMax);
  if (followed === 'too_long') throw tooMuchText(plan.textMax);
  return followed;
}

/** Stops reading after `max`. */
function follow(
  connection: Connection,
  { ends, node, ids, limitEach }: FollowPlan,
  max: Few,
): Followed | 'too_many' | 'too_long' {
  const rows: Row[] = [];
  const places = new Map<string, number | null>();
  let total = 0;
  let textLength = 0;
  const place = (id: string) => {
    const known = places.get(id);
    if (known !== undefined) return known;
    const row = connection.row(node, [id]);
    const found = row === null ? null : rows.push(row) - 1;
    places.set(id, found);
    textLength += row === null ? 0 : textLengthOf(row);
    return found;
  };
  const found: number[][] = [];
  for (const id of ids) {
    const others = connection.rows(ends.sql, [...ends.values, id, limitEach]);
    total += others.length;
    if (total > max.rows) return 'too_many';
    const here: number[] = [];
    for (const [other] of others) {
      const found = place(String(other));
      if (found !== null) here.push(found);
      if (textLength > max.textLength) return 'too_long';
    }
    found.push(here);
  }
  return { rows, ends: found };
}

function textLengthOf(row: Row): number {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length;
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
