import type { Graph } from '../graph/graph.ts';

/** Nodes removed in one transaction. */
const sliceMax = 100;
const types = ['browserSession', 'signInLink', 'oauthClient', 'oauthRecord'] as const;

/** Removes expired sessions, links, and records of the authorization server, which are refused anyway. Several backends may do so concurrently. */
export async function removeExpired(graph: Graph, now: number, signal: AbortSignal): Promise<void> {
  for (const type of types) while (!signal.aborted && (await removeSlice(graph, type, now)));
}

/** False if no expired node is left. */
async function removeSlice(graph: Graph, type: (typeof types)[number], now: number): Promise<boolean> {
  const where = [{ field: 'expiresAt', below: now }] as const;
  const { nodes } = await graph.select({ type, anchor: null, where, orderBy: 'expiresAt', limit: sliceMax });
  if (nodes.length === 0) return false;
  await graph.write(async (transaction) => {
    for (const { id } of nodes) await transaction.remove(type, id, null);
  });
  return nodes.length === sliceMax;
}
