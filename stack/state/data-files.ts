import { join } from 'node:path';
import type { Graph, Topology } from '../settings/choices.ts';

/** Names in data/ of each kind of content. A database has a log beside it. */
const busFile = 'bus.sqlite';
const graphNames: Readonly<Record<Graph, string>> = { sqlite: 'graph.sqlite', dgraph: 'dgraph' };
const natsFolder = 'nats';
/** Files of skills, beside SQLite; with Dgraph the bus keeps them. */
const blobsName = 'blobs';

/** What the bus kept, where a version before was changing the number of its nodes. */
export const carriedFolder = 'bus-carried';

export function busIn(dir: string, topology: Topology): string {
  return join(dir, topology === 'embedded' ? busFile : natsFolder);
}

export function graphIn(dir: string, graph: Graph): string {
  return join(dir, graphNames[graph]);
}

export function blobsIn(dir: string): string {
  return join(dir, blobsName);
}

/** A database and the files that SQLite keeps beside it. */
export function databaseFiles(file: string): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`];
}
