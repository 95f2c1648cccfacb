import { hasOneHost, sharedServices } from '../front/front-of.ts';
import { usualDgraphPorts } from '../graph/dgraph-ports.ts';
import { hasOwnGraph } from '../graph/has-own-graph.ts';
import type { ListenerName } from '../settings/choices.ts';
import { listeners } from '../settings/choices.ts';
import type { Auto, Definition } from '../settings/definition.ts';

/** By name: of the four services, and with processes of their own those of the bus, of Dgraph and of every further one. */
export type Ports = Readonly<Record<ListenerName, number>> & { readonly [name: string]: number };

/** The ports of part 8 of the specification. */
export const usualPorts: Ports = { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
export const usualBusPorts = { nats: 4222, 'nats-http': 8222 } as const;
/** On which nodes of NATS speak with each other. */
export const usualRoutePort = 6222;
const usualFrontPorts = { 'caddy-https': 443, 'caddy-http': 80 } as const;
/** The second remote-mcp has the usual port 3102, and the first 3101 behind a front: far enough from everything that has a port by itself. */
const usualReplicaPorts = { 'remote-mcp': 3100, backend: 3200, runtime: 3300 } as const;
/** Of which there may be several. */
export type Replicated = keyof typeof usualReplicaPorts;

/** One port that an installation listens on, as it was chosen. */
export interface PortWish {
  readonly name: string;
  readonly wanted: Auto<number>;
  /** What `auto` becomes where nobody else has it. */
  readonly usual: number;
  /** How far from it the ports are that it comes with, and that move with it. */
  readonly beside?: readonly number[];
  /** The address that is listened on. */
  readonly host: string;
  /** The field that decides it. */
  readonly place: string;
}

/** Nobody beyond this machine reaches what listens there. */
export const loopback = '127.0.0.1';

/** Every port of an installation, those that people know first. */
export function portWishesOf(definition: Definition): readonly PortWish[] {
  const { ports, topology, engine } = definition;
  const own = listeners.map((name) => ({
    name,
    wanted: ports[name],
    usual: usualPorts[name],
    host: serviceBind(definition),
    place: `ports.${name}`,
  }));
  if (topology === 'embedded') return own;
  if (engine === 'docker') return publishedWishes(definition, own);
  return [
    ...[own, frontWishes(definition), busWishes(definition)].flat(),
    ...[graphWishes(definition), replicaWishes(definition)].flat(),
  ];
}

/** The address that services listen on: what svc.yaml says, unless only the front shall be reached. */
export function serviceBind(definition: Definition): string {
  return hasOneHost(definition) ? loopback : definition.bind;
}

/** The port that everything has under one host name. */
export function frontPort({ public: { tls } }: Definition, ports: Ports): number {
  const name = tls === 'none' ? 'caddy-http' : 'caddy-https';
  return ports[name] ?? usualFrontPorts[name];
}

/** What several of a service share is the port of one. */
export function frontWishes(definition: Definition): readonly PortWish[] {
  if (!hasOneHost(definition)) return [];
  const { tls, httpsPort, httpPort } = definition.public;
  const { 'caddy-https': https, 'caddy-http': http } = usualFrontPorts;
  const host = definition.bind;
  const open = { name: 'caddy-http', wanted: httpPort, usual: http, host, place: 'public.httpPort' };
  if (tls === 'none') return [open];
  return [{ name: 'caddy-https', wanted: httpsPort, usual: https, host, place: 'public.httpsPort' }, open];
}

/** Containers have ports of their own; of this machine they take what is published. Each backend is, for `svc` itself. */
function publishedWishes(definition: Definition, own: readonly PortWish[]): readonly PortWish[] {
  const isOneHost = hasOneHost(definition);
  const services = own.filter(({ name }) => name === 'backend' || (name !== 'runtime' && !isOneHost));
  const backends = replicaWishes(definition).filter(({ place }) => place === 'replicas.backend');
  const bus =
    definition.bus.public === undefined ? [] : busWishes(definition).filter(({ place }) => place === 'bus.port');
  return [...services, ...frontWishes(definition), ...bus, ...backends];
}

function busWishes({ bus, replicas }: Definition): readonly PortWish[] {
  if (bus.servers !== 'auto') return [];
  const { nats, 'nats-http': http } = usualBusPorts;
  const nodes = replicaNames('nats', replicas.nats);
  return [
    ...eachAfter(nodes, { wanted: bus.port, usual: nats, host: bus.public?.bind ?? loopback, place: 'bus.port' }),
    ...(typeof bus.httpPort !== 'number'
      ? []
      : eachAfter(nodes.map(httpPortOf), {
          ...{ wanted: bus.httpPort, usual: http, host: loopback, place: 'bus.httpPort' },
        })),
    ...(nodes.length === 1
      ? []
      : eachAfter(nodes.map(routePortOf), {
          ...{ wanted: 'auto', usual: usualRoutePort, host: loopback, place: 'replicas.nats' },
        })),
  ];
}

/** The names of the ports of a node of NATS: for its monitoring, and for the other nodes. */
export const httpPortOf = (node: string): string => `${node}-http`;
export const routePortOf = (node: string): string => `${node}-route`;

/** Nodes of one kind have ports one after the other, where nobody else has them. */
function eachAfter(names: readonly string[], first: Omit<PortWish, 'name'>): readonly PortWish[] {
  const { wanted, usual } = first;
  return names.map((name, index) => ({
    ...first,
    name,
    wanted: wanted === 'auto' ? wanted : wanted + index,
    usual: usual + index,
  }));
}

/** Dgraph knows one number for each node, by which all of its ports move. */
function graphWishes(definition: Definition): readonly PortWish[] {
  if (!hasOwnGraph(definition)) return [];
  const { port, zeroPort } = definition.graphdb;
  const { zero, alpha } = usualDgraphPorts;
  const { 'dgraph-zero': zeros, 'dgraph-alpha': alphas } = definition.replicas;
  return [
    ...eachAfter(replicaNames('dgraph-zero', zeros), {
      wanted: zeroPort,
      usual: zero.grpc,
      beside: [zero.http - zero.grpc],
      host: loopback,
      place: 'graphdb.zeroPort',
    }),
    ...eachAfter(replicaNames('dgraph-alpha', alphas), {
      wanted: port,
      usual: alpha.http,
      beside: [alpha.grpc - alpha.http, alpha.internal - alpha.http],
      host: loopback,
      place: 'graphdb.port',
    }),
  ];
}

/** The first one has the port of its service, unless a front has it; the others are reached on this machine only. */
function replicaWishes(definition: Definition): readonly PortWish[] {
  return (['remote-mcp', 'backend', 'runtime'] as const).flatMap((service) =>
    replicaPortNames(service, definition).flatMap((name, index) =>
      name === service
        ? []
        : {
            name,
            wanted: 'auto' as const,
            usual: usualReplicaPorts[service] + index + 1,
            host: loopback,
            place: `replicas.${service}`,
          },
    ),
  );
}

/** The names of the ports that the processes of a service listen on, in the order of `replicaNames`. */
export function replicaPortNames(service: Replicated, definition: Definition): readonly string[] {
  const [first = service, ...others] = replicaNames(service, definition.replicas[service]);
  // Where the port of the service is the front's.
  const isShared = sharedServices(definition).some((one) => one === service);
  return [isShared ? `${service}-1` : first, ...others];
}

/** remote-mcp, remote-mcp-2, remote-mcp-3, … */
export function replicaNames(service: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? service : `${service}-${index + 1}`));
}
