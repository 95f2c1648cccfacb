import { join } from 'node:path';

/** What a bus of one node keeps its streams in, and what the nodes of a cluster do, in data/: neither can read what the other wrote. */
export const aloneFolder = 'nats';
export const clusterFolder = 'nats-cluster';

/** Where a node of NATS keeps its streams, in data/. */
export function busFolderOf(node: string, nodes: number): string {
  return nodes === 1 ? aloneFolder : join(clusterFolder, node);
}
