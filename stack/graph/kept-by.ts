import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf } from '../parts/dgraph-node.ts';
import { lossOf } from '../place/loss-of.ts';
import type { Installation } from '../state/installation.ts';

/** Where a part keeps data of the graph, and whether there is any. */
export interface Kept {
  readonly place: string;
  readonly isThere: boolean;
}

/** By name of the part: of the backend, or of a node of Dgraph. */
export type KeptBy = (part: string) => Kept;

/** For processes: paths in data/. A node of Dgraph that lost its folder is still a member of its cluster. */
export function keptInFiles(installation: Installation): KeptBy {
  return (part) => {
    const place = part === 'backend' ? 'data/graph.sqlite' : dataOf(part);
    const isThere = existsSync(join(installation.dir, place)) || lossOf(installation, part) !== null;
    return { place, isThere };
  };
}
