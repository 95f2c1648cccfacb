import type { ServiceName } from '../services/contracts/env/variables.ts';
import { httpAddress } from './addresses.ts';
import { busParts } from './bus/bus-parts.ts';
import type { Environment, EnvironmentOf } from './environment.ts';
import { frontPart } from './front/front-part.ts';
import { graphParts } from './graph/graph-parts.ts';
import { isGraphOnLoopback } from './graph/has-own-graph.ts';
import { runtimeDirOf } from './installation.ts';
import { type Part, readyAt } from './part.ts';
import { loopback, type Replicated, replicaNames, replicaPortNames } from './ports/port-wishes.ts';

/** All parts of an installation, in the order in which they are shown. */
export function partsOf(of: EnvironmentOf, environment: Environment): readonly Part[] {
  const { addresses, secrets } = of;
  const ofService = (service: ServiceName, after: readonly Part[], read: readonly string[]): Part => ({
    name: service,
    service,
    url: addresses.local[service],
    ready: readyAt(addresses.local[service]),
    after: after.map(({ name }) => name),
    variables: environment[service],
    secrets: read,
  });
  const bus = busParts(of);
  const graph = graphParts(of);
  const backendSecrets = [secrets.encryptionKey, secrets.jwtPrivateKey, ...graphSecretsOf(of)];
  const backends = replicasOf('backend', ofService('backend', [...bus, ...graph], backendSecrets), of);
  const runtimes = replicasOf('runtime', ofService('runtime', backends, [secrets.runtimeKey]), of);
  const frontend = ofService('frontend', backends, []);
  // Agents are let in last: one that waits for the address to be back must not be shown what does not run yet.
  const remoteMcp = ofService('remote-mcp', [...runtimes, frontend], [secrets.remoteMcpKey]);
  const remoteMcps = replicasOf('remote-mcp', remoteMcp, of);
  const front = frontPart(of, { 'remote-mcp': remoteMcps, backend: backends, frontend: [frontend] });
  return [...backends, ...remoteMcps, ...runtimes, frontend, ...bus, ...graph, ...(front === null ? [] : [front])];
}

/** The same parts, each after those that it needs. */
export function inStartOrder(parts: readonly Part[]): readonly Part[] {
  const ordered = new Set<Part>();
  const add = (part: Part) => {
    for (const other of parts) if (part.after.includes(other.name)) add(other);
    ordered.add(part);
  };
  for (const part of parts) add(part);
  return [...ordered];
}

/** Those that the backend shows to Dgraph. */
function graphSecretsOf({ definition, secrets }: EnvironmentOf): readonly string[] {
  const { graph, graphdb } = definition;
  if (graph === 'sqlite') return [];
  const isOwn = graphdb.url === 'auto';
  return [
    ...(isOwn || graphdb.user !== undefined ? [secrets.graphPassword] : []),
    ...(isOwn || graphdb.token ? [secrets.graphToken] : []),
    ...(isGraphOnLoopback(definition) ? [secrets.graphNodeCertificate] : []),
  ];
}

/** Those that do not have the port of their service are reached on this machine only, on ports of their own. */
function replicasOf(
  service: Replicated,
  first: Part,
  { installation, definition, ports }: EnvironmentOf,
): readonly Part[] {
  const portNames = replicaPortNames(service, definition);
  return replicaNames(service, definition.replicas[service]).map((name, index) => {
    const portName = portNames[index] ?? name;
    if (portName === service) return first;
    const port = ports[portName] ?? 0;
    const url = httpAddress(loopback, port);
    const own = service === 'runtime' ? { SVC_WORKING_DIR: runtimeDirOf(installation, name) } : {};
    const portVariable = service === 'backend' ? 'PORT' : 'REMOTE_PORT';
    const variables = { ...first.variables, [portVariable]: String(port), BIND_HOST: loopback, ...own };
    return { ...first, name, url, ready: readyAt(url), variables };
  });
}
