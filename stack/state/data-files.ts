import { join } from 'node:path';
import type { Graph, Topology } from '../settings/choices.ts';

/** The bus's files of a topology, in data/. A database has a log beside it. */
export const busNames: Readonly<Record<Topology, readonly string[]>> = {
  embedded: ['bus.sqlite', 'bus.sqlite-wal', 'bus.sqlite-shm'],
  distributed: ['nats'],
};
/** Files of skills, beside SQLite; with Dgraph the bus stores them. */
const blobsName = 'blobs';
/** The files of the platform's own graph. */
export const graphNames: Readonly<Record<Graph, readonly string[]>> = {
  sqlite: ['graph.sqlite', 'graph.sqlite-wal', 'graph.sqlite-shm', blobsName],
  dgraph: ['dgraph'],
};
export function busIn(dir: string, topology: Topology): string {
  return join(dir, busNames[topology][0] ?? '');
}

export function graphIn(dir: string, graph: Graph): string {
  return join(dir, graphNames[graph][0] ?? '');
}

export function blobsIn(dir: string): string {
  return join(dir, blobsName);
}
