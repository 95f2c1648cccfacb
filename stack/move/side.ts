import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { type Definition, type Graph, graphs, type Topology, topologies } from '../definition/definition.ts';

/** How an installation keeps what it holds. A move leads from one side to another. */
export const side = z.object({ topology: z.enum(topologies), graph: z.enum(graphs) });
export type Side = z.infer<typeof side>;

export interface WantedSide {
  readonly topology?: Topology | undefined;
  readonly graph?: Graph | undefined;
}

export function sideOf({ topology, graph }: Definition): Side {
  return { topology, graph };
}

/** What was not asked for stays as it is, where it can. */
export function sideFor(wanted: WantedSide, now: Side): Side {
  const topology = wanted.topology ?? now.topology;
  const graph = wanted.graph ?? (topology === 'embedded' ? 'sqlite' : now.graph);
  if (topology === 'embedded' && graph === 'dgraph') {
    throw new SvcError(
      'invalid_input',
      'The graph dgraph needs topology distributed: with topology embedded one process holds everything, in SQLite.',
      { hint: 'Such as: svc move --to distributed --graph dgraph' },
    );
  }
  return { topology, graph };
}

export function isSameSide(one: Side, other: Side): boolean {
  return one.topology === other.topology && one.graph === other.graph;
}

export function sideName({ topology, graph }: Side): string {
  return `${topology} with ${graph}`;
}
