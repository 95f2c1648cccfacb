import { SvcError } from '../../contracts/errors.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { noUsage, plus, readUsage, type UsageTotal, usageDaysMax } from './read-usage.ts';

export interface SkillUsage extends UsageTotal {
  /** False: it has more rows than are read, so that the numbers are too small. */
  readonly isComplete: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The calls of a skill's tools in the last days. */
export async function usageOfSkill(
  graph: Pick<Graph, 'select'>,
  { id, workspace: anchor }: Node<'skill'>,
  { days, now }: { readonly days: number; readonly now: number },
): Promise<SkillUsage> {
  if (!Number.isInteger(days) || days < 1 || days > usageDaysMax) {
    throw new SvcError('invalid_input', `"days" is ${days}: it must be from 1 to ${usageDaysMax}.`);
  }
  const where = [
    { field: 'skill', equals: id },
    { field: 'hour', from: now - days * dayMs },
  ] as const;
  let total = noUsage;
  const isComplete = await readUsage(graph, { anchor, where }, (row) => {
    total = plus(total, row);
  });
  return { ...total, isComplete };
}
