import { type ListenerName, listeners } from './choices.ts';
import {
  type Definition,
  hasFront,
  hasOneHost,
  hasOwnBus,
  hasOwnGraph,
  serviceBind,
  sharedServices,
} from './definition.ts';

/** By name: of the four services, and with separate processes those of the bus, of Dgraph and of every replica. */
export type Ports = Readonly<Record<ListenerName, number>> & { readonly [name: string]: number };

/** Only programs of this machine reach a port that listens here. */
export const loopback = '127.0.0.1';
/** The ports of part 8 of the specification. */
export const usualPorts: Ports = { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
export const natsPorts = { client: 4222, monitoring: 8222, route: 6222 } as const;
/** The default ports of nodes of Dgraph. Dgraph moves all ports of a node by one offset. */
export const dgraphPorts = {
  zero: { grpc: 5080, http: 6080 },
  alpha: { http: 8080, grpc: 9080, internal: 7080 },
} as const;
export const frontPorts = { 'caddy-https': 443, 'caddy-http': 80 } as const;
/** Default ports: the second remote-mcp has 3102, and the first behind a proxy 3101, far from other default ports. */
const replicaPorts: Readonly<Partial<Ports>> = { backend: 3200, 'remote-mcp': 3100, runtime: 3300 };

/** The kinds of parts, under the names of `services[].name`. */
export type PartKind = ListenerName | 'nats' | 'dgraph-zero' | 'dgraph-alpha' | 'caddy';

export function nodesOf(kind: PartKind, definition: Definition): readonly string[] {
  return nodeNames(kind, countOf(kind, definition));
}

/** remote-mcp, remote-mcp-2, remote-mcp-3, … */
export function nodeNames(kind: PartKind, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? kind : `${kind}-${index + 1}`));
}

function countOf(kind: PartKind, definition: Definition): number {
  const { replicas } = definition;
  switch (kind) {
    case 'frontend':
      return 1;
    case 'caddy':
      return hasFront(definition) ? 1 : 0;
    case 'nats':
      return hasOwnBus(definition) ? replicas.nats : 0;
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return hasOwnGraph(definition) ? replicas[kind] : 0;
    default:
      return replicas[kind];
  }
}

/** One port of an installation, as chosen in svc.yaml. */
export interface PortWish {
  readonly name: string;
  /** The part that listens there. */
  readonly part: string;
  readonly wanted: number | 'auto';
  /** The value of `auto` while the port is free. */
  readonly usual: number;
  /** The port at a private site. */
  readonly inside: number;
  /** Offsets of its companion ports, which move with it. */
  readonly beside?: readonly number[];
  readonly host: string;
  /** The setting that decides it. */
  readonly place: string;
  /** Whether it is reached from outside of the platform. */
  readonly isPublished: boolean;
}

/** Every port that parts of this definition listen on. */
export function wishesOf(definition: Definition): readonly PortWish[] {
  const { bus, graphdb, replicas } = definition;
  const { zero, alpha } = dgraphPorts;
  const local = { host: loopback, isPublished: false };
  const clients = { host: bus.public?.bind ?? loopback, isPublished: bus.public !== undefined };
  const nats = nodesOf('nats', definition);
  const monitored = typeof bus.httpPort === 'number' ? nats : [];
  const routed = replicas.nats > 1 ? nats : [];
  return [
    ...listeners.flatMap((service) => servicePorts(service, definition)),
    ...nodePorts(nats, { wanted: bus.port, usual: natsPorts.client, place: 'bus.port', ...clients }),
    ...nodePorts(monitored, {
      suffix: '-http',
      wanted: bus.httpPort ?? 'auto',
      usual: natsPorts.monitoring,
      place: 'bus.httpPort',
      ...local,
    }),
    ...nodePorts(routed, {
      suffix: '-route',
      wanted: 'auto',
      usual: natsPorts.route,
      place: 'replicas.nats',
      ...local,
    }),
    ...nodePorts(nodesOf('dgraph-zero', definition), {
      wanted: graphdb.zeroPort,
      usual: zero.grpc,
      beside: [zero.http - zero.grpc],
      place: 'graphdb.zeroPort',
      ...local,
    }),
    ...nodePorts(nodesOf('dgraph-alpha', definition), {
      wanted: graphdb.port,
      usual: alpha.http,
      beside: [alpha.grpc - alpha.http, alpha.internal - alpha.http],
      place: 'graphdb.port',
      ...local,
    }),
    ...hostPorts(definition),
  ];
}

/** The first process has the port of its service, unless a proxy has it. */
function servicePorts(service: ListenerName, definition: Definition): readonly PortWish[] {
  const isShared = sharedServices(definition).some((one) => one === service);
  const own = {
    name: service,
    part: isShared ? 'caddy' : service,
    wanted: definition.ports[service],
    usual: usualPorts[service],
    inside: usualPorts[service],
    host: serviceBind(definition),
    place: `ports.${service}`,
    // Under one host name, only the proxy is reachable, and the backend for the command line.
    isPublished: service === 'backend' || (service !== 'runtime' && !hasOneHost(definition)),
  };
  const others = nodesOf(service, definition).map((part, index) => ({
    ...own,
    name: index === 0 ? `${service}-1` : part,
    part,
    wanted: 'auto' as const,
    usual: (replicaPorts[service] ?? 0) + index + 1,
    host: loopback,
    place: `replicas.${service}`,
    // The command line asks each backend, also while the proxy is down.
    isPublished: service === 'backend',
  }));
  return [own, ...others.slice(isShared ? 0 : 1)];
}

/** Nodes of one kind have consecutive ports, while these are free. */
function nodePorts(
  nodes: readonly string[],
  { suffix = '', ...first }: Omit<PortWish, 'name' | 'part' | 'inside'> & { readonly suffix?: string },
): readonly PortWish[] {
  const { wanted, usual } = first;
  return nodes.map((part, index) => ({
    ...first,
    name: `${part}${suffix}`,
    part,
    wanted: wanted === 'auto' ? wanted : wanted + index,
    usual: usual + index,
    inside: usual,
  }));
}

/** The own ports of the proxy under one host name. Private sites use ports above 1023, which need no privilege. */
function hostPorts(definition: Definition): readonly PortWish[] {
  if (!hasOneHost(definition)) return [];
  const { tls, httpsPort, httpPort } = definition.public;
  const { 'caddy-https': https, 'caddy-http': http } = frontPorts;
  const both = { part: 'caddy', host: definition.bind, isPublished: true };
  const open = { ...both, name: 'caddy-http', wanted: httpPort, usual: http, inside: 8080, place: 'public.httpPort' };
  if (tls === 'none') return [open];
  const closed = { name: 'caddy-https', wanted: httpsPort, usual: https, inside: 8443, place: 'public.httpsPort' };
  return [{ ...both, ...closed }, open];
}

/** The ports of a coordination node, which move with the claimed one. */
export function zeroPorts(ports: Readonly<Record<string, number>>, node = 'dgraph-zero') {
  const { grpc, http } = dgraphPorts.zero;
  const offset = (ports[node] ?? grpc) - grpc;
  return { grpc: grpc + offset, http: http + offset, offset };
}

export function alphaPorts(ports: Readonly<Record<string, number>>, node = 'dgraph-alpha') {
  const { internal, http, grpc } = dgraphPorts.alpha;
  const offset = (ports[node] ?? http) - http;
  return { internal: internal + offset, http: http + offset, grpc: grpc + offset, offset };
}
