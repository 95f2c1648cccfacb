import { z } from 'zod';
import { SvcError } from '../../../services/contracts/errors.ts';
import {
  type Engine,
  engines,
  engineTraits,
  type Graph,
  graphs,
  type Topology,
  topologies,
} from '../../settings/choices.ts';
import type { Definition } from '../../settings/definition.ts';

/** How an installation keeps what it holds. A move leads from one side to another. */
export const side = z.object({
  topology: z.enum(topologies),
  graph: z.enum(graphs),
  engine: z.enum(engines).default('process'),
});
export type Side = z.infer<typeof side>;

export interface WantedSide {
  readonly topology?: Topology | undefined;
  readonly graph?: Graph | undefined;
  readonly engine?: Engine | undefined;
}

export function sideOf({ topology, graph, engine }: Definition): Side {
  return { topology, graph, engine };
}

/** What was not asked for stays as it is, where it can. */
export function sideFor(wanted: WantedSide, now: Side): Side {
  const topology = wanted.topology ?? now.topology;
  const isOne = topology === 'embedded';
  const graph = wanted.graph ?? (isOne ? 'sqlite' : now.graph);
  const engine = wanted.engine ?? (isOne ? 'process' : now.engine);
  if (isOne && graph === 'dgraph') {
    throw new SvcError(
      'invalid_input',
      'The graph dgraph needs topology distributed: with topology embedded one process holds everything, in SQLite.',
      { hint: 'Such as: svc move --to distributed --graph dgraph' },
    );
  }
  if (isOne && engineTraits[engine].needsDistributed) {
    throw new SvcError(
      'invalid_input',
      `The engine ${engine} needs topology distributed: with topology embedded one process holds everything.`,
      { hint: `Such as: svc move --to distributed --engine ${engine}` },
    );
  }
  return { topology, graph, engine };
}

export function isSameSide(one: Side, other: Side): boolean {
  return one.topology === other.topology && one.graph === other.graph && one.engine === other.engine;
}

/** Whether both keep their bus in the same place, where it stays. */
export function isSameBus(one: Side, other: Side): boolean {
  return one.topology === other.topology && one.engine === other.engine;
}

export function sideName({ topology, graph, engine }: Side): string {
  return `${topology} with ${graph}${engineTraits[engine].place}`;
}
