import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf } from '../parts/dgraph-node.ts';
import { describeNodeLoss } from '../place/kept-data.ts';
import type { Installation } from '../state/installation.ts';

/** The place of a part's graph data, and whether it has any. */
export interface Kept {
  readonly place: string;
  readonly isThere: boolean;
}

/** From the name of a part, the backend or a node of Dgraph, to its graph data. */
export type KeptBy = (part: string) => Kept;

/** For processes: paths in data/. A node of Dgraph that lost its folder is still a member of its cluster. */
export function keptInFiles(installation: Installation): KeptBy {
  return (part) => {
    const place = part === 'backend' ? 'data/graph.sqlite' : dataOf(part);
    const isThere = existsSync(join(installation.dir, place)) || describeNodeLoss(installation, part) !== null;
    return { place, isThere };
  };
}
