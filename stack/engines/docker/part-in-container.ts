import { basename, join } from 'node:path';
import type { Definition } from '../../definition/definition.ts';
import { caddyfileValues, type FrontService } from '../../front/caddyfile.ts';
import { hasOneHost, sharedServices } from '../../front/front-of.ts';
import { usualDgraphPorts } from '../../graph/dgraph-ports.ts';
import { hasOwnGraph } from '../../graph/has-own-graph.ts';
import type { Part } from '../../part.ts';
import { usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';
import { isShared, oneHostPorts, publishedOf } from './published.ts';

/** The volume of a part, as the part sees it: everything that it keeps. */
export const dataDir = '/data';
/** The files that a part is given, as it sees them, and nothing else of this machine. */
export const givenDir = '/run/svc';
/** Every network that a container is in: which of its ports leave it is said by what is published. */
const everywhere = '0.0.0.0';
const { nats: busPort, 'nats-http': busHttpPort } = usualBusPorts;
const { zero, alpha } = usualDgraphPorts;

/** What a part is one of. */
export interface Surroundings {
  readonly definition: Definition;
  readonly parts: readonly Part[];
}

/** The same part as its container sees the world: each has an address of its own, the usual ports, and the others by their names. */
export function partInContainer(part: Part, among: Surroundings): Part {
  const variables = { ...part.variables, ...insideOf(part, among) };
  const files = filesIn(part);
  const moved = Object.entries(variables).map(([name, value]) => [name, withFilesInside(name, value, files)]);
  return { ...part, variables: Object.fromEntries(moved), secrets: files, ...addressesOf(part, among.definition) };
}

/** Where the runtime's own web service is, which only the platform reaches. */
export const runtimeUrl = `http://runtime:${usualPorts.runtime}`;

/** Whether it has a volume. */
export function keepsData({ service }: Part, { graph, public: { tls } }: Definition): boolean {
  switch (service) {
    case 'backend':
      return graph === 'sqlite';
    case 'caddy':
      return tls === 'acme';
    case 'remote-mcp':
    case 'frontend':
      return false;
    case 'runtime':
    case 'nats':
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return true;
  }
}

/** What a part asks itself to learn whether it is ready. */
export function readyUrlInside({ service }: Part, definition: Definition): string {
  const at = (port: number, path = '/ready') => `http://127.0.0.1:${port}${path}`;
  switch (service) {
    case 'nats':
      return at(busHttpPort, '/healthz');
    case 'caddy':
      return at(hasOneHost(definition) ? oneHostPorts.http : usualPorts[sharedServices(definition)[0] ?? 'remote-mcp']);
    case 'dgraph-zero':
      return at(zero.http, '/health');
    case 'dgraph-alpha':
      return at(alpha.http, '/health');
    default:
      return at(usualPorts[service]);
  }
}

/** Where the data nodes answer HTTP, inside of the graph's network. */
export function graphUrlsInside(parts: readonly Part[]): readonly string[] {
  return hostsOf('dgraph-alpha', alpha.http, parts).map((host) => `http://${host}`);
}

/** All parts that run a service, by their names. */
function hostsOf(service: Part['service'], port: number, parts: readonly Part[]): readonly string[] {
  return parts.filter((part) => part.service === service).map(({ name }) => `${name}:${port}`);
}

function insideOf(part: Part, { definition, parts }: Surroundings): Readonly<Record<string, string>> {
  const { service, name, variables } = part;
  const listens = { BIND_HOST: everywhere };
  const servers = hostsOf('nats', busPort, parts).map((host) => `nats://${host}`);
  // Whoever comes through TLS comes by the names that the certificate vouches for, from inside as from outside.
  const isByName = servers.length > 0 && definition.bus.public?.tls == null;
  const bus: Record<string, string> = isByName ? { BUS_SERVERS: servers.join(',') } : {};
  switch (service) {
    case 'backend': {
      const files: Record<string, string> = variables.FILES_DIR === undefined ? {} : { FILES_DIR: `${dataDir}/blobs` };
      return { ...listens, ...bus, ...graphOf({ definition, parts }), ...files, PORT: String(usualPorts.backend) };
    }
    case 'remote-mcp': {
      const holder = isShared('backend', definition) ? 'caddy' : 'backend';
      const [host = ''] = hostsOf(holder, usualPorts.backend, parts);
      const backend = { PRIVATE_BACKEND_URL: `http://${host}` };
      return { ...listens, ...bus, ...backend, REMOTE_PORT: String(usualPorts['remote-mcp']) };
    }
    case 'runtime':
      return { ...listens, ...bus, REMOTE_PORT: String(usualPorts.runtime), SVC_WORKING_DIR: dataDir };
    case 'frontend':
      return { ...listens, PORT: String(usualPorts.frontend) };
    case 'nats': {
      const http = { HTTP_LISTEN: `127.0.0.1:${busHttpPort}` };
      return { NAME: variables.NAME ?? name, LISTEN: `${everywhere}:${busPort}`, STORE_DIR: dataDir, ...http };
    }
    case 'dgraph-zero':
      return { BIND_ALL: 'true', ADDRESS: `${name}:${zero.grpc}`, PORT_OFFSET: '0', DATA: dataDir };
    case 'dgraph-alpha': {
      const own = { BIND_ALL: 'true', ADDRESS: `${name}:${alpha.internal}`, PORT_OFFSET: '0', DATA: dataDir };
      const [key = ''] = filesIn(part);
      return {
        ...own,
        ZERO: hostsOf('dgraph-zero', zero.grpc, parts).join(','),
        ACL_KEY: insideName(key, [key]),
      };
    }
    case 'caddy':
      return frontInside(part, { definition, parts });
  }
}

function graphOf({ definition, parts }: Surroundings): Readonly<Record<string, string>> {
  if (definition.graph === 'sqlite') return { PRIVATE_GRAPHDB_URL: `file://${dataDir}/graph.sqlite` };
  if (!hasOwnGraph(definition)) return {};
  const [url = ''] = graphUrlsInside(parts);
  const servers = hostsOf('dgraph-alpha', alpha.grpc, parts);
  return { PRIVATE_GRAPHDB_URL: url, PRIVATE_GRAPHDB_GRPC_URL: servers.join(',') };
}

function frontInside(part: Part, { definition, parts }: Surroundings): Readonly<Record<string, string>> {
  const { variables, secrets } = part;
  const behind = (service: FrontService) =>
    hasOneHost(definition) || isShared(service, definition) ? hostsOf(service, usualPorts[service], parts) : [];
  const files = secrets.map((file) => insideName(file, secrets));
  const oneHost = {
    public: withFiles(definition.public, files),
    httpPort: oneHostPorts.http,
    httpsPort: oneHostPorts.https,
    origin: variables.ORIGIN ?? '',
  };
  const ports = sharedServices(definition).map((service) => [service, usualPorts[service]]);
  return caddyfileValues({
    bind: everywhere,
    upstreams: { 'remote-mcp': behind('remote-mcp'), backend: behind('backend'), frontend: behind('frontend') },
    shared: { bind: everywhere, ports: Object.fromEntries(ports) },
    storage: keepsData(part, definition) ? dataDir : '/tmp',
    oneHost: hasOneHost(definition) ? oneHost : null,
  });
}

/** The files that the front reads, in the order in which its part names them. */
function withFiles(open: Definition['public'], files: readonly string[]): Definition['public'] {
  const [first, second] = files;
  switch (open.tls) {
    case 'files':
      return { ...open, cert: first, key: second };
    case 'acme':
      return { ...open, acme: { ...open.acme, ca: first } };
    case 'none':
      return open;
  }
}

function addressesOf(part: Part, definition: Definition): Partial<Part> {
  if (publishedOf(part, definition, {}).length > 0) return {};
  if (part.service === 'nats') return { url: `nats://${part.name}:${busPort}` };
  if (part.service === 'dgraph-zero') return { url: `dgraph://${part.name}:${zero.grpc}` };
  if (part.service === 'dgraph-alpha') return { url: `dgraph://${part.name}:${alpha.grpc}` };
  if (part.service === 'caddy') return {};
  const url = `http://${part.name}:${usualPorts[part.service]}`;
  return { url, readyUrl: `${url}/ready` };
}

/** A variable with such a name says where a file is. */
const namesFile = /_(FILE|PATH)$/;

/** Files of this machine that a part reads, by what it is started with. */
function filesIn({ service, variables, secrets }: Part): readonly string[] {
  switch (service) {
    // It knows the platform by public keys alone.
    case 'nats':
      return secrets.filter((file) => variables.TLS?.includes(JSON.stringify(file)));
    // The token stands in their configuration.
    case 'dgraph-zero':
      return [];
    case 'dgraph-alpha':
      return secrets.filter((file) => basename(file) === basename(variables.ACL_KEY ?? ''));
    case 'caddy':
      return secrets;
    default: {
      const named = Object.entries(variables).flatMap(([name, value]) => (namesFile.test(name) ? [value] : []));
      return [...new Set(named)];
    }
  }
}

function withFilesInside(name: string, value: string, files: readonly string[]): string {
  if (namesFile.test(name)) return insideName(value, files);
  if (name !== 'TLS') return value;
  return files.reduce(
    (text, file) => text.replace(JSON.stringify(file), JSON.stringify(insideName(file, files))),
    value,
  );
}

/** Files from several folders may have one name. */
export function insideName(file: string, files: readonly string[]): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const before = files.filter((other) => other.endsWith(`/${name}`)).indexOf(file);
  return join(givenDir, before > 0 ? `${before + 1}-${name}` : name);
}
