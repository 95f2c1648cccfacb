import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../services/contracts/errors.ts';
import { aloneFolder, clusterFolder } from './bus/bus-folders.ts';
import { hasOwnBus } from './bus/has-own-bus.ts';
import type { Definition } from './definition/definition.ts';
import { dataOf } from './graph/graph-parts.ts';
import { hasOwnGraph } from './graph/has-own-graph.ts';
import type { Installation } from './installation.ts';
import { replicaNames } from './ports/port-wishes.ts';

/** Refuses, before anything is started or stopped, a number of nodes that what is there could not be read by. */
export function refuseOtherNodes(installation: Installation, definition: Definition): void {
  refuseOtherBus(installation, definition);
  for (const node of ['dgraph-zero', 'dgraph-alpha'] as const) refuseFewerNodes(installation, definition, node);
}

/** What one node kept no cluster can read: it would remove it after half a minute. And the other way round. */
function refuseOtherBus({ dataDir }: Installation, definition: Definition): void {
  const { bus, replicas } = definition;
  if (!hasOwnBus(definition) || !bus.persistentMessaging) return;
  const [own, other] = replicas.nats === 1 ? [aloneFolder, clusterFolder] : [clusterFolder, aloneFolder];
  if (existsSync(join(dataDir, own)) || !existsSync(join(dataDir, other))) return;
  const nodes = replicas.nats === 1 ? 'three nodes of NATS' : 'one node of NATS';
  throw new SvcError(
    'conflict',
    `data/${other} holds what ${nodes} kept, which replicas.nats: ${replicas.nats} can't read.`,
    {
      hint: `Set replicas.nats back. Or rename data/${other} while the platform is down: then agents begin new sessions, and usage that was not counted yet is not.`,
    },
  );
}

/** A node of Dgraph that is in the cluster is waited for: without it there may be no majority. */
function refuseFewerNodes({ dir }: Installation, definition: Definition, node: 'dgraph-zero' | 'dgraph-alpha'): void {
  if (!hasOwnGraph(definition)) return;
  const wanted = definition.replicas[node];
  const most = 3;
  const there = replicaNames(node, most).findLastIndex((name) => existsSync(join(dir, dataOf(name)))) + 1;
  if (there <= wanted) return;
  throw new SvcError(
    'conflict',
    `replicas.${node} is ${wanted}, and ${dataOf(node)} and those beside it are of ${there} nodes: nodes of Dgraph can become more, not fewer.`,
    { hint: `Set replicas.${node} back to ${there}.` },
  );
}
