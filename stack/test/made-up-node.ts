import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataOf } from '../parts/dgraph.ts';
import { kindOf, metaFileOf, walMeta } from '../place/node-data.ts';
import type { Installation } from '../state/installation.ts';

/** A wal.meta in the format of Dgraph: the id of the node first, and its vote at byte 512. */
export function walMetaOf(id: number, voteSizeBytes: number): Buffer {
  const meta = Buffer.alloc(1024);
  meta.writeBigUInt64BE(BigInt(id), 0);
  meta.writeUInt32BE(voteSizeBytes, walMeta.voteAt);
  return meta;
}

export function nodeFolder({ dir }: Installation, node: string): string {
  return join(dir, dataOf(node));
}

export function writeInNode(installation: Installation, node: string, name: string, content: string | Buffer): void {
  const file = join(nodeFolder(installation, node), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Writes the files of a node that has joined its cluster. */
export function writeNode(installation: Installation, node: string, id: number): void {
  writeInNode(installation, node, metaFileOf(node), walMetaOf(id, 6));
  if (kindOf(node) === 'dgraph-alpha') writeInNode(installation, node, 'p/MANIFEST', `of ${node}`);
}
