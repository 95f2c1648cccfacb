import type { Auto, Definition } from '../settings/definition.ts';
import { sharedServices } from '../settings/definition.ts';
import { loopback, usualPorts } from '../settings/ports.ts';

/** Default ports: the second remote-mcp has 3102, and the first behind a proxy 3101, far from other default ports. */
const usualReplicaPorts = { 'remote-mcp': 3100, backend: 3200, runtime: 3300 } as const;
/** Services that may have several processes. */
export type Replicated = keyof typeof usualReplicaPorts;

/** One port of an installation, as chosen in svc.yaml. */
export interface PortWish {
  readonly name: string;
  /** The part that listens there. */
  readonly part: string;
  readonly wanted: Auto<number>;
  /** The value of `auto` while the port is free. */
  readonly usual: number;
  /** The port at a private site. */
  readonly inside: number;
  /** Offsets of its companion ports, which move with it. */
  readonly beside?: readonly number[];
  /** The listen address. */
  readonly host: string;
  /** The setting that decides it. */
  readonly place: string;
  /** Whether it is reached from outside of the platform. */
  readonly isPublished: boolean;
}

/** Nodes of one kind have consecutive ports, while these are free. */
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

/**
 * The first process has the port of its service, unless a proxy has it; the others are reachable from this machine
 * only.
 */
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
          // The command line asks each backend, also while the proxy is down.
          isPublished: service === 'backend',
        },
  );
}

/** The names of the ports of a service's processes, in the order of `replicaNames`. */
function replicaPortNames(service: Replicated, definition: Definition): readonly string[] {
  const [first = service, ...others] = replicaNames(service, definition.replicas[service]);
  // Whether the proxy has the service's port.
  const isShared = sharedServices(definition).some((one) => one === service);
  return [isShared ? `${service}-1` : first, ...others];
}

/** remote-mcp, remote-mcp-2, remote-mcp-3, … */
export function replicaNames(service: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? service : `${service}-${index + 1}`));
}
