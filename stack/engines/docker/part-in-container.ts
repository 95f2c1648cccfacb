import { join } from 'node:path';
import { hasOwnBus } from '../../bus/has-own-bus.ts';
import type { Definition } from '../../definition/definition.ts';
import { listening, placeOf } from '../../front/caddyfile.ts';
import { type SharedService, sharedServices } from '../../front/front-of.ts';
import type { Part } from '../../part.ts';
import { replicaNames, usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';

/** The volume of a part, as the part sees it: everything that it keeps. */
export const dataDir = '/data';
/** The files that a part is given, as it sees them, and nothing else of this machine. */
export const givenDir = '/run/svc';
/** Every network that a container is in: which of its ports leave it is said by what is published. */
const everywhere = '0.0.0.0';
const { nats: busPort, 'nats-http': busHttpPort } = usualBusPorts;

/** A port that a part listens on in its container, and where it is reached from outside. */
export interface Published {
  readonly containerPort: number;
  readonly host: string;
  readonly port: number;
}

/** The same part as its container sees the world: each has an address of its own, the usual ports, and the others by their names. */
export function partInContainer(part: Part, definition: Definition): Part {
  const variables = { ...part.variables, ...insideOf(part, definition) };
  const files = filesIn(part);
  const moved = Object.entries(variables).map(([name, value]) => [name, withFilesInside(name, value, files)]);
  return { ...part, variables: Object.fromEntries(moved), secrets: files, ...addressesOf(part, definition) };
}

/** Where the runtime's own web service is, which only the platform reaches. */
export const runtimeUrl = `http://runtime:${usualPorts.runtime}`;

/** How a part can be reached from this machine; nothing where nobody outside the platform's network reaches it. */
export function publishedOf(
  { service }: Part,
  definition: Definition,
  ports: Readonly<Record<string, number>>,
): readonly Published[] {
  const { bind, bus } = definition;
  const at = (containerPort: number, host: string, port = 0) => ({ containerPort, host: addressOf(host), port });
  switch (service) {
    case 'backend':
    case 'remote-mcp':
      return findShared(service, definition) !== undefined ? [] : [at(usualPorts[service], bind, ports[service])];
    case 'frontend':
      return [at(usualPorts[service], bind, ports[service])];
    case 'caddy':
      return sharedServices(definition).map((shared) => at(usualPorts[shared], bind, ports[shared]));
    case 'nats':
      return bus.public === undefined ? [] : [at(busPort, bus.public.bind, ports.nats)];
    case 'runtime':
      return [];
    case 'dgraph-zero':
    case 'dgraph-alpha':
      throw outside(service);
  }
}

/** svc.yaml that asks for it is refused. */
export function outside(service: Part['service']): Error {
  return new Error(`${service} runs in no container`);
}

/** Docker publishes on addresses, not on names. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** The service itself where its address is the front's. */
function findShared(service: Part['service'], definition: Definition): SharedService | undefined {
  return sharedServices(definition).find((shared) => shared === service);
}

/** What a part asks itself to learn whether it is ready. */
export function readyUrlInside({ service }: Part, definition: Definition): string {
  switch (service) {
    case 'nats':
      return `http://127.0.0.1:${busHttpPort}/healthz`;
    case 'caddy':
      return `http://127.0.0.1:${usualPorts[sharedServices(definition)[0] ?? 'remote-mcp']}/ready`;
    case 'dgraph-zero':
    case 'dgraph-alpha':
      throw outside(service);
    default:
      return `http://127.0.0.1:${usualPorts[service]}/ready`;
  }
}

function insideOf({ service, name, variables }: Part, definition: Definition): Readonly<Record<string, string>> {
  const listens = { BIND_HOST: everywhere };
  // Whoever comes through TLS comes by the names that the certificate vouches for, from inside as from outside.
  const bus: Record<string, string> =
    hasOwnBus(definition) && definition.bus.public?.tls == null ? { BUS_SERVERS: `nats://nats:${busPort}` } : {};
  switch (service) {
    case 'backend': {
      const graph = { PRIVATE_GRAPHDB_URL: `file://${dataDir}/graph.sqlite` };
      const files: Record<string, string> = variables.FILES_DIR === undefined ? {} : { FILES_DIR: `${dataDir}/blobs` };
      return { ...listens, ...bus, ...graph, ...files, PORT: String(usualPorts.backend) };
    }
    case 'remote-mcp': {
      const backend = { PRIVATE_BACKEND_URL: `http://backend:${usualPorts.backend}` };
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
    case 'caddy': {
      const bind = listening(everywhere);
      const shared = sharedServices(definition).flatMap((one) => {
        const upstreams = replicaNames(one, definition.replicas[one]).map((name) => `${name}:${usualPorts[one]}`);
        return [
          [placeOf(one), upstreams.join(' ')],
          [`${placeOf(one)}_PORT`, String(usualPorts[one])],
        ];
      });
      return { BIND: bind, SHARED_BIND: bind, ...Object.fromEntries(shared) };
    }
    case 'dgraph-zero':
    case 'dgraph-alpha':
      throw outside(service);
  }
}

function addressesOf(part: Part, definition: Definition): Partial<Part> {
  if (part.service === 'runtime') {
    const url = `http://${part.name}:${usualPorts.runtime}`;
    return { url, readyUrl: `${url}/ready` };
  }
  if (part.service === 'nats' && definition.bus.public === undefined) return { url: `nats://nats:${busPort}` };
  const shared = findShared(part.service, definition);
  if (shared !== undefined) {
    const url = `http://${part.name}:${usualPorts[shared]}`;
    return { url, readyUrl: `${url}/ready` };
  }
  return {};
}

/** A variable with such a name says where a file is. */
const namesFile = /_(FILE|PATH)$/;

/** Files of this machine that a part reads, by what it is started with. NATS knows the platform by public keys alone. */
function filesIn({ service, variables, secrets }: Part): readonly string[] {
  if (service === 'nats') return secrets.filter((file) => variables.TLS?.includes(JSON.stringify(file)));
  const named = Object.entries(variables).flatMap(([name, value]) => (namesFile.test(name) ? [value] : []));
  return [...new Set(named)];
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
