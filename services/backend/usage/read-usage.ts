import type { WorkspaceId } from '../../contracts/ids.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Condition, type Graph, type Node, pageMax } from '../graph/graph.ts';

/** Calls, added up. */
export interface UsageTotal {
  readonly calls: number;
  /** Calls that failed, and those whose tool reported a failure. */
  readonly errors: number;
  readonly durationMs: number;
}

export const noUsage: UsageTotal = { calls: 0, errors: 0, durationMs: 0 };

export function plus(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    durationMs: one.durationMs + other.durationMs,
  };
}

/** Days that one sum may reach over. */
export const usageDaysMax = 90;
/** Rows of one sum: a month of ten keys that each use three tools in every hour, and half of an operation's memory. */
export const usageRowsMax = 20_000;

interface WantedUsage {
  readonly anchor: WorkspaceId;
  readonly where: readonly Condition<'usage'>[];
}

/** Hands over the rows of a workspace, the latest first. False: there are more than are read, and older ones are left out. */
export async function readUsage(
  graph: Pick<Graph, 'select'>,
  { anchor, where }: WantedUsage,
  take: (row: Node<'usage'>) => void,
): Promise<boolean> {
  let rows = 0;
  const selection = { type: 'usage', anchor, where, orderBy: 'hour', descending: true, limit: pageMax } as const;
  for await (const page of everyPage(graph, selection)) {
    if (rows >= usageRowsMax) return false;
    for (const row of page) take(row);
    rows += page.length;
  }
  return true;
}
