import { join } from 'node:path';
import type { Graph, Topology } from '../settings/choices.ts';

export function busIn(dir: string, topology: Topology): string {
  return join(dir, topology === 'embedded' ? 'bus.sqlite' : 'nats');
}

export function graphIn(dir: string, graph: Graph): string {
  return join(dir, graph === 'sqlite' ? 'graph.sqlite' : 'dgraph');
}

/** Files of skills, beside SQLite; with Dgraph the bus keeps them. */
export function blobsIn(dir: string): string {
  return join(dir, 'blobs');
}

export function databaseFiles(file: string): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`];
}
