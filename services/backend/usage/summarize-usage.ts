import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { hourMs } from '../../contracts/usage-hour.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { noUsage, plus, readUsage, type UsageTotal, usageDaysMax } from './read-usage.ts';

/** What usage is added up by. */
export const usageGroups = ['tool', 'key', 'skill', 'mcpServer'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** `averageMs`: the slowest first. */
export const usageOrders = ['calls', 'errors', 'averageMs'] as const;
export type UsageOrder = (typeof usageOrders)[number];

/** The calls of a workspace in a stretch of time. */
export interface UsageSummary {
  readonly workspace: WorkspaceId;
  readonly total: UsageTotal;
  /** False: older rows were left out. */
  readonly isComplete: boolean;
  /** The hours with calls, the earliest first. */
  readonly hours: readonly UsageHour[];
  /** By the ids of objects. Calls outside of a skill have the id null. */
  readonly groups: Readonly<Record<UsageGroup, ReadonlyMap<string | null, UsageTotal>>>;
}

export interface UsageHour extends UsageTotal {
  readonly hour: number;
}

/** The part of one tool, key, skill or MCP server. */
export interface UsageShare extends UsageTotal {
  readonly workspace: WorkspaceId;
  readonly group: UsageGroup;
  readonly id: string | null;
}

const stretchMaxMs = usageDaysMax * 24 * hourMs;

/** Adds up the calls of the hours from `from` to before `to`. The hour that `from` lies in counts. */
export async function summarizeUsage(
  graph: Pick<Graph, 'select'>,
  workspace: WorkspaceId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<UsageSummary> {
  const first = from - (from % hourMs);
  if (!(first >= 0 && first < to && to - first <= stretchMaxMs + hourMs)) {
    throw new SvcError(
      'invalid_input',
      `"from" is ${from} and "to" is ${to}: "to" must be later, by at most ${usageDaysMax} days.`,
    );
  }
  let total = noUsage;
  const hours = new Map<number, UsageTotal>();
  const groups = { tool: new Totals(), key: new Totals(), skill: new Totals(), mcpServer: new Totals() };
  const where = [{ field: 'hour', from: first, below: to }] as const;
  const isComplete = await readUsage(graph, { anchor: workspace, where }, (row: Node<'usage'>) => {
    total = plus(total, row);
    hours.set(row.hour, plus(hours.get(row.hour) ?? noUsage, row));
    for (const group of usageGroups) groups[group].add(row[group], row);
  });
  const ordered = [...hours].sort(([one], [other]) => one - other).map(([hour, sum]) => ({ hour, ...sum }));
  return { workspace, total, isComplete, hours: ordered, groups };
}

/** Totals by id. */
class Totals extends Map<string | null, UsageTotal> {
  add(id: string | null, more: UsageTotal): void {
    this.set(id, plus(this.get(id) ?? noUsage, more));
  }
}

/** The largest shares. Ones without calls that failed are no failing ones. */
export function largestShares(
  { workspace, groups }: UsageSummary,
  { by: group, order, first }: { readonly by: UsageGroup; readonly order: UsageOrder; readonly first: number },
): readonly UsageShare[] {
  return [...groups[group]]
    .map(([id, sum]) => ({ workspace, group, id, ...sum }))
    .filter((share) => sizes[order](share) > 0)
    .sort((one, other) => sizes[order](other) - sizes[order](one) || other.calls - one.calls)
    .slice(0, first);
}

const sizes: Readonly<Record<UsageOrder, (share: UsageTotal) => number>> = {
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  averageMs: ({ durationMs, calls }) => (calls === 0 ? 0 : durationMs / calls),
};
