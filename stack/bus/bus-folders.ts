import { join } from 'node:path';
import type { Environment } from '../environment.ts';

/** What a bus of one node keeps its streams in, and what the nodes of a cluster do, in data/: neither can read what the other wrote. */
export const aloneFolder = 'nats';
export const clusterFolder = 'nats-cluster';

/** Where a node of NATS keeps its streams, in data/. */
export function busFolderOf(node: string, nodes: number): string {
  return nodes === 1 ? aloneFolder : join(clusterFolder, node);
}

/** What is on its way from one number of nodes to another, in data/: what the bus keeps for a while, and the files that are kept there. */
export const carriedFolder = 'bus-carried';
export const carriedBus = 'bus.sqlite';
export const carriedBlobs = 'blobs';

/** Whether files are kept on the bus. */
export function keepsBlobs({ environment }: { readonly environment: Environment }): boolean {
  return environment.backend.FILES_DIR === undefined;
}

/** How long the key of a session is kept. */
export function keyMaxAgeOf({ environment }: { readonly environment: Environment }): number {
  return Number(environment['remote-mcp'].SVC_SESSION_IDLE_TIMEOUT_MS);
}
