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

/** Path of wal.meta in the data of a node: Dgraph keeps the node's Raft id and its vote there. */
export function metaFileOf(node: string): string {
  return kindOf(node) === 'dgraph-zero' ? 'wal.meta' : 'w/wal.meta';
}

/** Where wal.meta holds the Raft id, and the size of the vote: 0 in a node that never joined its cluster or lost its data. */
export const walMeta = { idBytes: 8, voteAt: 512, voteSizeBytes: 4 } as const;

/** Whether the folder of a node holds its data and its vote. Without them Dgraph lets the node rejoin empty. */
export function hasNodeData({ dir }: Installation, node: string): boolean {
  const folder = join(dir, dataOf(node));
  if (kindOf(node) === 'dgraph-alpha' && !existsSync(join(folder, 'p/MANIFEST'))) return false;
  const meta = join(folder, metaFileOf(node));
  if (!existsSync(meta)) return false;
  const file = openSync(meta, 'r');
  try {
    const size = Buffer.alloc(walMeta.voteSizeBytes);
    readSync(file, size, 0, size.length, walMeta.voteAt);
    return size.readUInt32BE() > 0;
  } finally {
    closeSync(file);
  }
}
