import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { dataOf } from '../parts/dgraph.ts';
import { describeNodeLoss } from '../place/kept-data.ts';
import { type Definition, hasOwnGraph } from '../settings/definition.ts';
import { nodeNames, nodesOf } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';

/** The place of a part's graph data, and whether it has any. */
export interface Kept {
  readonly place: string;
  readonly isThere: boolean;
}

/** From the name of a part, the backend or a node of Dgraph, to its graph data. */
export type KeptBy = (part: string) => Kept;

/** For processes: paths in data/. A node of Dgraph that lost its folder is still a member of its cluster. */
export function keptInFiles(installation: Installation): KeptBy {
  return (part) => {
    const place = part === 'backend' ? 'data/graph.sqlite' : dataOf(part);
    const isThere = existsSync(join(installation.dir, place)) || describeNodeLoss(installation, part) !== null;
    return { place, isThere };
  };
}

/** Notice for an installation whose svc.yaml names an unused graph while another graph has data: that data is kept, but not shown. */
export function leftGraph({ graph }: Pick<Definition, 'graph'>, keptBy: KeptBy): readonly string[] {
  const kept = { sqlite: keptBy('backend'), dgraph: keptBy('dgraph-alpha') };
  const other = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  if (kept[graph].isThere || !kept[other].isThere) return [];
  return [
    `graph: ${graph} begins empty. The present data stays in ${kept[other].place}: graph: ${other} in svc.yaml goes back to it, and svc move --graph ${graph} then carries it over.`,
  ];
}

/**
 * Coordination nodes that keep their ports. Each remembers the addresses of the others, and a majority must find each other before a new
 * address can be told. A node that is alone needs no other.
 */
export function membersOf(definition: Definition, keptBy: KeptBy): ReadonlySet<string> {
  const members = nodesOf('dgraph-zero', definition).filter((node) => keptBy(node).isThere);
  return new Set(members.length > 1 ? members : []);
}

/** The most that svc.yaml allows. */
const nodesMax = 3;

/** Refuses fewer nodes than the cluster has. A removed node still counts for the majority. */
export function refuseFewerNodes(keptBy: KeptBy, definition: Definition): void {
  if (!hasOwnGraph(definition)) return;
  for (const node of ['dgraph-zero', 'dgraph-alpha'] as const) {
    const wanted = definition.replicas[node];
    const kept = nodeNames(node, nodesMax).map(keptBy);
    const there = kept.findLastIndex(({ isThere }) => isThere) + 1;
    if (there <= wanted) continue;
    throw new SvcError(
      'conflict',
      `replicas.${node} is ${wanted}, and ${kept[there - 1]?.place} exists: nodes of Dgraph can be added, not removed.`,
      { hint: `Set replicas.${node} in svc.yaml back to ${there}.` },
    );
  }
}
