import { join, resolve } from 'node:path';
import { publicBusKey } from '../secrets/bus-seeds.ts';
import type { SecretFiles } from '../secrets/secrets.ts';
import { httpAddress } from '../settings/addresses.ts';
import { type TlsFiles, tlsFilesIn } from '../settings/certificate.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnBus } from '../settings/definition.ts';
import { loopback } from '../settings/ports.ts';
import type { ForeignProgram, Part, ReadyCheck, Room } from './part.ts';
import { eachAfter, type PortWish, replicaNames } from './port-wish.ts';
import { limitsOf } from './service.ts';
import {
  addressAmongParts,
  addressOf,
  fillPlaces,
  PartFiles,
  type PartKind,
  publishedBy,
  type Setup,
} from './setup.ts';

/**
 * The nodes of the bus, unless it is external. Nodes do not wait for each other, because a cluster needs a majority to
 * become ready. They authenticate each other by a secret, and clients by public keys.
 */
export const nats: PartKind = {
  nodes: (definition) => (hasOwnBus(definition) ? replicaNames('nats', definition.replicas.nats) : []),
  wishes: (definition) => [...clientWishes(definition), ...monitoringWishes(definition), ...routeWishes(definition)],
  parts: (setup) => nats.nodes(setup.definition).map((node) => partOf(node, setup)),
};

/** The folders of a single node, and of a cluster's nodes, in data/. Neither can read the other's data. */
export const aloneFolder = 'nats';
export const clusterFolder = 'nats-cluster';

/** The default ports of a node. */
export const usualBusPorts = { client: 4222, monitoring: 8222, route: 6222 } as const;

function clientWishes(definition: Definition): readonly PortWish[] {
  const { port, public: open } = definition.bus;
  return eachAfter(nats.nodes(definition), {
    wanted: port,
    usual: usualBusPorts.client,
    host: open?.bind ?? loopback,
    place: 'bus.port',
    isPublished: open !== undefined,
  });
}

function monitoringWishes(definition: Definition): readonly PortWish[] {
  const { httpPort } = definition.bus;
  if (typeof httpPort !== 'number') return [];
  const first = { wanted: httpPort, usual: usualBusPorts.monitoring, host: loopback, place: 'bus.httpPort' };
  return eachAfter(nats.nodes(definition), { ...first, isPublished: false }, (node) => `${node}-http`);
}

function routeWishes(definition: Definition): readonly PortWish[] {
  const nodes = nats.nodes(definition);
  if (nodes.length < 2) return [];
  const first = { wanted: 'auto', usual: usualBusPorts.route, host: loopback, place: 'replicas.nats' } as const;
  return eachAfter(nodes, { ...first, isPublished: false }, (node) => `${node}-route`);
}

function partOf(node: string, setup: Setup): Part {
  const { installation, definition, secrets, site } = setup;
  const { bus } = definition;
  const nodes = nats.nodes(definition);
  const files = new PartFiles(setup);
  const tls = bus.public?.tls == null ? null : tlsFilesIn(installation.dir, bus.public.tls);
  const client = wishOf(node, clientWishes(definition));
  const monitoring = monitoringOf(node, setup);
  const url = `nats://${client === undefined ? '' : addressOf(client, setup)}`;
  const listensOn = (wish: PortWish) => hostAndPort(site.listenOn(wish.host), site.ports[wish.name]);
  const routes = routeWishes(definition);
  const ownRoute = wishOf(node, routes);
  const others = routes.filter(({ part }) => part !== node).map((wish) => addressAmongParts(wish, setup));
  const seeds = [secrets.busCalloutSeed, secrets.busSystemSeed, secrets.busIssuerSeed];
  const keeps = {
    folder: nodes.length === 1 ? aloneFolder : join(clusterFolder, node),
    volume: nodes.length > 1 && node === 'nats' ? 'nats-1' : node,
  };
  const variables = {
    NAME: node.replace('nats', `svc-${definition.id}`),
    LISTEN: client === undefined ? '' : listensOn(client),
    STORE_DIR: site.dataPathOf(keeps),
    TLS: tls === null ? '' : tlsOf(tls, files.give),
    ...(monitoring === null ? {} : { HTTP_LISTEN: monitoring }),
    ...(ownRoute === undefined ? {} : { ROUTE_LISTEN: listensOn(ownRoute), ROUTES: others.join(',') }),
  };
  return {
    ...{ name: node, service: 'nats', url, after: [], sees: [] },
    ready: readyOf(url, setup),
    ...(monitoring === null || site.isPrivate ? {} : { otherUrls: [`http://${monitoring}`] }),
    program: programOf(node, variables, secrets),
    variables,
    files: files.all(),
    secrets: [...seeds, ...files.all().map(({ file }) => file)],
    keeps,
    published: publishedBy(node, clientWishes(definition), setup),
    // Runtimes elsewhere reach it from outside.
    rooms: bus.public === undefined ? ['bus'] : ['platform', 'bus'],
    limits: limitsOf('nats', definition),
  };
}

function wishOf(node: string, wishes: readonly PortWish[]): PortWish | undefined {
  return wishes.find(({ part }) => part === node);
}

/** The address of its monitoring, reachable from this machine only; at a private site from the node itself only. */
function monitoringOf(node: string, { definition, site }: Setup): string | null {
  if (site.isPrivate) return hostAndPort(loopback, usualBusPorts.monitoring);
  const wish = wishOf(node, monitoringWishes(definition));
  return wish === undefined ? null : hostAndPort(loopback, site.ports[wish.name]);
}

function readyOf(url: string, { secrets, site }: Setup): ReadyCheck {
  if (!site.isPrivate) return { kind: 'nats', url, seedFile: secrets.busSystemSeed };
  return { kind: 'http', url: `${httpAddress(loopback, usualBusPorts.monitoring)}/healthz` };
}

function programOf(node: string, variables: Part['variables'], secrets: SecretFiles): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'nats-server', image: 'nats' },
    args: (file) => ['-c', file],
    // Its log lines have times without a zone.
    environment: { TZ: 'UTC' },
    configuration: {
      name: `${node}.conf`,
      write({ readSecret }) {
        const routeSecret = variables.ROUTES === undefined ? {} : { ROUTE_SECRET: readSecret(secrets.busRoutes) };
        return natsConfiguration({ ...variables, ...busKeysOf(secrets, readSecret), ...routeSecret });
      },
    },
    ask: askWithWget,
  };
}

/** The images of NATS and Caddy contain wget. */
export function askWithWget(url: string): readonly string[] {
  return ['wget', '-q', '-O', '/dev/null', url];
}

function hostAndPort(host: string, port = 0): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** In nats-server's syntax, whose strings are those of JSON. */
function tlsOf({ cert, key }: TlsFiles, give: (file: string) => string): string {
  return `tls { cert_file: ${JSON.stringify(give(cert))}, key_file: ${JSON.stringify(give(key))} }`;
}

/** The addresses of the bus for services; runtimes elsewhere have their own. */
export function busVariables(setup: Setup, give: (file: string) => string): Record<string, string> {
  const { installation, definition } = setup;
  const { topology, bus } = definition;
  if (topology === 'embedded') return { BUS_SERVERS: 'inproc:' };
  const from = (path: string) => give(resolve(installation.dir, path));
  if (bus.servers !== 'auto') {
    return { BUS_SERVERS: bus.servers.join(','), ...(bus.ca === undefined ? {} : { BUS_CA_PATH: from(bus.ca) }) };
  }
  const { tls = null, servers = [] } = bus.public ?? {};
  if (tls === null) {
    const addresses = clientWishes(definition).map((wish) => `nats://${addressAmongParts(wish, setup)}`);
    return { BUS_SERVERS: addresses.join(',') };
  }
  // The certificate is for these names only, and without TLS the bus refuses every client.
  return { BUS_SERVERS: servers.join(','), ...(tls.ca === null ? {} : { BUS_CA_PATH: from(tls.ca) }) };
}

/** Whether messages survive a restart of the bus. For the bus inside the single process, its host decides. */
export function busPersistence({ topology, bus }: Definition): Record<string, string> {
  return topology === 'embedded' ? {} : { BUS_PERSISTENT_MESSAGING: String(bus.persistentMessaging) };
}

/** The room of the bus, if any. */
export function busRooms(definition: Definition): readonly Room[] {
  return hasOwnBus(definition) ? ['bus'] : [];
}

type Values = Readonly<Record<string, string>>;

/** Fills the template with these values. Throws when a placeholder is left. */
export function natsConfiguration(values: Values): string {
  const places = { ...values, MONITORING: monitoringLine(values), CLUSTER: clusterBlock(values) };
  return fillPlaces(new URL('../../templates/nats.conf', import.meta.url), places);
}

/** The monitoring shows every connection to every client. */
function monitoringLine({ HTTP_LISTEN }: Values): string {
  return HTTP_LISTEN === undefined ? '' : `http: ${JSON.stringify(HTTP_LISTEN)}`;
}

/** A node's configuration about the others: nodes authenticate each other by their shared secret. */
function clusterBlock({ NAME, ROUTE_LISTEN, ROUTES, ROUTE_SECRET }: Values): string {
  if (ROUTES === undefined) return '';
  if (ROUTE_SECRET === undefined) throw new Error(`the nodes beside ${NAME} have no shared secret`);
  const user = 'node';
  const routes = ROUTES.split(',').map((address) => `nats-route://${user}:${ROUTE_SECRET}@${address}`);
  return `cluster {
  name: svc
  listen: ${JSON.stringify(ROUTE_LISTEN)}
  # Clients know all nodes, under the addresses that are right for them.
  no_advertise: true
  authorization { user: ${user}, password: ${JSON.stringify(ROUTE_SECRET)}, timeout: 2 }
  routes: ${JSON.stringify(routes)}
}`;
}

/** The public keys of the backend's seeds, by which NATS knows it. */
export function busKeysOf(secrets: SecretFiles, readSecret: (file: string) => string): Values {
  return {
    CALLOUT_PUBLIC_KEY: publicBusKey(readSecret(secrets.busCalloutSeed)),
    SYSTEM_PUBLIC_KEY: publicBusKey(readSecret(secrets.busSystemSeed)),
    ISSUER_PUBLIC_KEY: publicBusKey(readSecret(secrets.busIssuerSeed)),
  };
}
