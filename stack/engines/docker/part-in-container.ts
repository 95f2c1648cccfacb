import { basename } from 'node:path';
import { caddyfileValues, type FrontService } from '../../front/caddyfile.ts';
import { hasOneHost, sharedServices } from '../../front/front-of.ts';
import { usualDgraphPorts } from '../../graph/dgraph-ports.ts';
import { hasOwnGraph } from '../../graph/has-own-graph.ts';
import { type Part, readyAt } from '../../part.ts';
import { usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';
import type { Definition } from '../../settings/definition.ts';
import { nodeInside } from './node-in-container.ts';
import { dataDir, everywhere, hostsOf, insideName } from './places-inside.ts';
import { isShared, oneHostPorts, publishedOf } from './published.ts';
import { volumeOf } from './volume-of.ts';

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

function insideOf(part: Part, { definition, parts }: Surroundings): Readonly<Record<string, string>> {
  const { service, variables } = part;
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
    case 'nats':
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return nodeInside({ ...part, service }, parts);
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
    storage: volumeOf(part, definition) === null ? '/tmp' : dataDir,
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
  return { url, ready: readyAt(url) };
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
