import type { Auto, Definition } from '../settings/definition.ts';
import { sharedServices } from '../settings/front-of.ts';
import { loopback, usualPorts } from '../settings/ports.ts';

/** The second remote-mcp has the usual port 3102, and the first 3101 behind a front: far enough from everything that has a port by itself. */
const usualReplicaPorts = { 'remote-mcp': 3100, backend: 3200, runtime: 3300 } as const;
/** Services that may have several processes. */
export type Replicated = keyof typeof usualReplicaPorts;

/** One port that an installation listens on, as it was chosen. */
export interface PortWish {
  readonly name: string;
  /** The part that listens there. */
  readonly part: string;
  readonly wanted: Auto<number>;
  /** What `auto` becomes where nobody else has it. */
  readonly usual: number;
  /** The port where the part has a network of its own. */
  readonly inside: number;
  /** How far from it the ports are that it comes with, and that move with it. */
  readonly beside?: readonly number[];
  /** The address that is listened on. */
  readonly host: string;
  /** The field that decides it. */
  readonly place: string;
  /** Whether it is reached from outside of the platform. */
  readonly isPublished: boolean;
}

/** Nodes of one kind have ports one after the other, where nobody else has them. */
export function eachAfter(
  nodes: readonly string[],
  first: Omit<PortWish, 'name' | 'part' | 'inside'>,
  nameOf: (node: string) => string = (node) => node,
): readonly PortWish[] {
  const { wanted, usual } = first;
  return nodes.map((node, index) => ({
    ...first,
    name: nameOf(node),
    part: node,
    wanted: wanted === 'auto' ? wanted : wanted + index,
    usual: usual + index,
    inside: usual,
  }));
}

/** The first process has the port of its service, unless a front has it; only this machine reaches the others. */
export function replicaWishes(service: Replicated, definition: Definition): readonly PortWish[] {
  const nodes = replicaNames(service, definition.replicas[service]);
  return replicaPortNames(service, definition).flatMap((name, index) =>
    name === service
      ? []
      : {
          name,
          part: nodes[index] ?? name,
          wanted: 'auto' as const,
          usual: usualReplicaPorts[service] + index + 1,
          inside: usualPorts[service],
          host: loopback,
          place: `replicas.${service}`,
          // The command line asks each backend, also while the front is down.
          isPublished: service === 'backend',
        },
  );
}

/** The names of the ports that the processes of a service listen on, in the order of `replicaNames`. */
function replicaPortNames(service: Replicated, definition: Definition): readonly string[] {
  const [first = service, ...others] = replicaNames(service, definition.replicas[service]);
  // Where the port of the service is the front's.
  const isShared = sharedServices(definition).some((one) => one === service);
  return [isShared ? `${service}-1` : first, ...others];
}

/** remote-mcp, remote-mcp-2, remote-mcp-3, … */
export function replicaNames(service: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? service : `${service}-${index + 1}`));
}
