import { SvcError } from '../../contracts/errors.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Graph, type Node, pageMax } from '../graph/graph.ts';

export interface SkillUsage {
  readonly calls: number;
  readonly errors: number;
  /** False: it has more rows than are read, so that the numbers are too small. */
  readonly isComplete: boolean;
}

const daysMax = 90;
const dayMs = 24 * 60 * 60 * 1000;
/** Rows of one sum: a month of ten keys that each use three tools of the skill in every hour. */
const rowsMax = 20_000;

/** The calls of a skill's tools in the last days. */
export async function usageOfSkill(
  graph: Pick<Graph, 'select'>,
  { id, workspace: anchor }: Node<'skill'>,
  { days, now }: { readonly days: number; readonly now: number },
): Promise<SkillUsage> {
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    throw new SvcError('invalid_input', `"days" is ${days}: it must be from 1 to ${daysMax}.`);
  }
  const where = [
    { field: 'skill', equals: id },
    { field: 'hour', from: now - days * dayMs },
  ] as const;
  let [calls, errors, rows] = [0, 0, 0];
  for await (const page of everyPage(graph, { type: 'usage', anchor, where, limit: pageMax })) {
    for (const row of page) {
      calls += row.calls;
      errors += row.errors;
    }
    rows += page.length;
    if (rows >= rowsMax) return { calls, errors, isComplete: page.length < pageMax };
  }
  return { calls, errors, isComplete: true };
}
