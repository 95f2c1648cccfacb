import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { replicaNames } from '../ports/port-wishes.ts';
import { dataOf } from './graph-parts.ts';
import { hasOwnGraph } from './has-own-graph.ts';

/** Nodes of one kind decide by majority. */
export const nodeKinds = ['dgraph-zero', 'dgraph-alpha'] as const;
export type NodeKind = (typeof nodeKinds)[number];

/** The nodes of one kind that svc.yaml asks for. */
export function nodesOf(kind: NodeKind, definition: Definition): readonly string[] {
  return hasOwnGraph(definition) ? replicaNames(kind, definition.replicas[kind]) : [];
}

/** The kind of a part that is a node of Dgraph. */
export function kindOf(part: string): NodeKind | null {
  return nodeKinds.find((kind) => part === kind || part.startsWith(`${kind}-`)) ?? null;
}

/** Where Dgraph writes down which node of its group it is, and what it voted for. */
export function metaFileOf(kind: NodeKind): string {
  return kind === 'dgraph-zero' ? 'wal.meta' : 'w/wal.meta';
}

/** The size of the vote in that file; a node that never joined, or forgot, has none. */
const voteAt = 512;
const sizeBytes = 4;

/** Whether the folder of a node holds what it stored and voted for. Without it Dgraph lets the node rejoin empty. */
export function hasNodeData({ dir }: Installation, kind: NodeKind, node: string): boolean {
  const folder = join(dir, dataOf(node));
  if (kind === 'dgraph-alpha' && !existsSync(join(folder, 'p/MANIFEST'))) return false;
  const meta = join(folder, metaFileOf(kind));
  if (!existsSync(meta)) return false;
  const file = openSync(meta, 'r');
  try {
    const size = Buffer.alloc(sizeBytes);
    readSync(file, size, 0, sizeBytes, voteAt);
    return size.readUInt32BE() > 0;
  } finally {
    closeSync(file);
  }
}
