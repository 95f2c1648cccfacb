import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../installation.ts';
import { dataOf } from './graph-parts.ts';

/** Where a part keeps data of the graph, and whether there is any. */
export interface Kept {
  readonly place: string;
  readonly isThere: boolean;
}

/** By name of the part: of the backend, or of a node of Dgraph. */
export type KeptBy = (part: string) => Kept;

/** In data/, for processes. */
export function keptInFiles({ dir }: Installation): KeptBy {
  return (part) => {
    const place = part === 'backend' ? 'data/graph.sqlite' : dataOf(part);
    return { place, isThere: existsSync(join(dir, place)) };
  };
}
