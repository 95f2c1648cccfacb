import { z } from 'zod';
import { isSameEngine } from '../../engines/engine-of.ts';
import { engines, engineTraits, graphs, topologies } from '../../settings/choices.ts';
import type { Definition } from '../../settings/definition.ts';

/** How an installation keeps what it holds. A move leads from one side to another. */
export const side = z.object({
  topology: z.enum(topologies),
  graph: z.enum(graphs),
  engine: z.enum(engines).default('process'),
});
export type Side = z.infer<typeof side>;

export type WantedSide = { readonly [Field in keyof Side]?: Side[Field] | undefined };

export function sideOf({ topology, graph, engine }: Definition): Side {
  return { topology, graph, engine };
}

/** What was not asked for stays as it is, where it can. The check of svc.yaml refuses what does not fit together. */
export function sideFor(wanted: WantedSide, now: Side): Side {
  const topology = wanted.topology ?? now.topology;
  const usual: Omit<Side, 'topology'> = topology === 'embedded' ? { graph: 'sqlite', engine: 'process' } : now;
  return { topology, graph: wanted.graph ?? usual.graph, engine: wanted.engine ?? usual.engine };
}

export function isSameSide(one: Side, other: Side): boolean {
  return isSameBus(one, other) && isSameGraph(one, other);
}

/** Whether both keep their graph in the same place, where it stays. */
export function isSameGraph(one: Side, other: Side): boolean {
  return one.graph === other.graph && isSameEngine(one, other);
}

/** Whether both keep their bus in the same place, where it stays. */
export function isSameBus(one: Side, other: Side): boolean {
  return one.topology === other.topology && isSameEngine(one, other);
}

export function sideName({ topology, graph, engine }: Side): string {
  return `${topology} with ${graph}${engineTraits[engine].place}`;
}
