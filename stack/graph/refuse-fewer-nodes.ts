import { SvcError } from '../../services/contracts/errors.ts';
import { replicaNames } from '../parts/port-wish.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import type { KeptBy } from './kept-by.ts';

/** The most that svc.yaml allows. */
const nodesMax = 3;

/**
 * Refuses, before anything is started or stopped, fewer nodes than the cluster has. A removed node still counts for the majority.
 */
export function refuseFewerNodes(keptBy: KeptBy, definition: Definition): void {
  if (!hasOwnGraph(definition)) return;
  for (const node of ['dgraph-zero', 'dgraph-alpha'] as const) {
    const wanted = definition.replicas[node];
    const kept = replicaNames(node, nodesMax).map(keptBy);
    const there = kept.findLastIndex(({ isThere }) => isThere) + 1;
    if (there <= wanted) continue;
    throw new SvcError(
      'conflict',
      `replicas.${node} is ${wanted}, and ${kept[there - 1]?.place} exists: nodes of Dgraph can be added, not removed.`,
      { hint: `Set replicas.${node} in svc.yaml back to ${there}.` },
    );
  }
}
