import { join } from 'node:path';
import { hasOwnBus } from '../../bus/has-own-bus.ts';
import type { Definition } from '../../definition/definition.ts';
import { frontOf } from '../../front/front-of.ts';
import type { Part } from '../../part.ts';
import { usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';

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

/** How a part can be reached from this machine; null where nobody outside the platform's network reaches it. */
export function publishedOf(
  { name, service }: Part,
  definition: Definition,
  ports: Readonly<Record<string, number>>,
): Published | null {
  const { bind, bus } = definition;
  const at = (containerPort: number, host: string, port = 0) => ({ containerPort, host: addressOf(host), port });
  switch (service) {
    case 'backend':
    case 'frontend':
      return at(usualPorts[service], bind, ports[service]);
    case 'remote-mcp':
      return frontOf(definition) !== null || name !== service ? null : at(usualPorts[service], bind, ports[service]);
    case 'caddy':
      return at(usualPorts['remote-mcp'], bind, ports['remote-mcp']);
    case 'nats':
      return bus.public === undefined ? null : at(busPort, bus.public.bind, ports.nats);
    case 'runtime':
      return null;
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

/** What a part asks itself to learn whether it is ready. */
export function readyUrlInside({ service }: Part): string {
  switch (service) {
    case 'nats':
      return `http://127.0.0.1:${busHttpPort}/healthz`;
    case 'caddy':
      return `http://127.0.0.1:${usualPorts['remote-mcp']}/ready`;
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
      const port = usualPorts['remote-mcp'];
      const count = definition.replicas['remote-mcp'];
      const upstreams = Array.from(
        { length: count },
        (_, index) => `remote-mcp${index === 0 ? '' : `-${index + 1}`}:${port}`,
      );
      return { HTTP_PORT: String(port), BIND: `tcp4/${everywhere}`, REMOTE_MCP: upstreams.join(' ') };
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
  if (part.service === 'remote-mcp' && (frontOf(definition) !== null || part.name !== 'remote-mcp')) {
    const url = `http://${part.name}:${usualPorts['remote-mcp']}`;
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
