import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { inWords } from '../../services/contracts/system-words.ts';
import { isCode } from '../machine/is-code.ts';
import { dataOf } from '../parts/dgraph.ts';
import type { Installation } from '../state/installation.ts';

/** Nodes of one kind decide by majority. */
export const nodeKinds = ['dgraph-zero', 'dgraph-alpha'] as const;
export type NodeKind = (typeof nodeKinds)[number];

export function kindOf(part: string): NodeKind | null {
  return nodeKinds.find((kind) => part === kind || part.startsWith(`${kind}-`)) ?? null;
}

/** Path of wal.meta in the data of a node: Dgraph keeps the node's vote there. */
export function metaFileOf(node: string): string {
  return kindOf(node) === 'dgraph-zero' ? 'wal.meta' : 'w/wal.meta';
}

/** Position of the vote's size in wal.meta: 0 in a node that never joined its cluster or lost its data. */
export const walMeta = { voteAt: 512, voteSizeBytes: 4 } as const;

export type NodeData = 'present' | 'gone' | { readonly unreadable: string };

/**
 * Whether the folder of a node holds its data and its vote. Without them Dgraph lets the node rejoin empty. A permission or a disk that fails
 * does not prove that the data is gone.
 */
export function readNodeData({ dir }: Installation, node: string): NodeData {
  const folder = join(dir, dataOf(node));
  try {
    if (kindOf(node) === 'dgraph-alpha') accessSync(join(folder, 'p/MANIFEST'), constants.R_OK);
    return hasVote(join(folder, metaFileOf(node))) ? 'present' : 'gone';
  } catch (error) {
    return isGone(error) ? 'gone' : { unreadable: inWords(error) };
  }
}

/** Whether a path leads to no file. */
export function isGone(error: unknown): boolean {
  return isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR');
}

/** Whether the node with this wal.meta has voted, as every member of a cluster has. */
export function hasVote(metaFile: string): boolean {
  const file = openSync(metaFile, 'r');
  try {
    const size = Buffer.alloc(walMeta.voteSizeBytes);
    readSync(file, size, 0, size.length, walMeta.voteAt);
    return size.readUInt32BE() > 0;
  } finally {
    closeSync(file);
  }
}
