import type { Graph } from '../graph/graph.ts';

/** Activity and usage removed in one transaction: at most this many of each. */
const sliceMax = 100;

/** Removes the activity and usage before that time. Several backends may do so concurrently. */
export async function forgetHistory(graph: Graph, before: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await forgetSlice(graph, before)));
}

/** False if nothing old is left. Ids are ordered by time of creation, so old records come before recent ones. */
async function forgetSlice(graph: Graph, before: number): Promise<boolean> {
  const [activity, usage] = await Promise.all([
    graph.select({ type: 'activity', anchor: 'everywhere', limit: sliceMax }),
    graph.select({ type: 'usage', anchor: 'everywhere', limit: sliceMax }),
  ]);
  const oldActivity = activity.nodes.filter(({ at }) => at < before);
  const oldUsage = usage.nodes.filter(({ hour }) => hour < before);
  if (oldActivity.length === 0 && oldUsage.length === 0) return false;
  await graph.write(async (transaction) => {
    for (const { id, workspace } of oldActivity) await transaction.remove('activity', id, workspace);
    for (const { id, workspace } of oldUsage) await transaction.remove('usage', id, workspace);
  });
  return oldActivity.length === sliceMax || oldUsage.length === sliceMax;
}
