import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Definition } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { replicaNames } from '../ports/port-wishes.ts';
import { dataOf } from './graph-parts.ts';
import { hasOwnGraph } from './has-own-graph.ts';

/** As many as svc.yaml can ask for. */
const nodesMax = 3;

/**
 * Refuses, before anything is started or stopped, fewer nodes than there are: one that is in the cluster is waited for, and without it there may
 * be no majority.
 */
export function refuseFewerNodes({ dir }: Installation, definition: Definition): void {
  // In containers there is one of each, with data in volumes.
  if (!hasOwnGraph(definition) || definition.engine === 'docker') return;
  for (const node of ['dgraph-zero', 'dgraph-alpha'] as const) {
    const wanted = definition.replicas[node];
    const there = replicaNames(node, nodesMax).findLastIndex((name) => existsSync(join(dir, dataOf(name)))) + 1;
    if (there <= wanted) continue;
    const last = dataOf(replicaNames(node, there).at(-1) ?? node);
    throw new SvcError(
      'conflict',
      `replicas.${node} is ${wanted}, and ${last} is there: nodes of Dgraph can become more, not fewer.`,
      { hint: `Set replicas.${node} in svc.yaml back to ${there}.` },
    );
  }
}
