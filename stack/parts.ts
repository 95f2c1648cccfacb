import { basename, join } from 'node:path';
import type { ServiceName } from '../services/contracts/env/variables.ts';
import { httpAddress, reachable } from './addresses.ts';
import { hasOwnBus } from './bus/has-own-bus.ts';
import { type TlsFiles, tlsFilesIn } from './definition/certificate.ts';
import type { Environment, EnvironmentOf } from './environment.ts';
import { frontPart } from './front/front-part.ts';
import { alphaPorts, zeroPorts } from './graph/dgraph-ports.ts';
import { hasOwnGraph } from './graph/has-own-graph.ts';
import { runtimeDirOf } from './installation.ts';
import type { Part } from './part.ts';
import { loopback, replicaNames, replicaPortNames } from './ports/port-wishes.ts';

/** All parts of an installation, in the order in which they are shown. */
export function partsOf(of: EnvironmentOf, environment: Environment): readonly Part[] {
  const { addresses, secrets } = of;
  const ofService = (service: ServiceName, after: readonly Part[], read: readonly string[]): Part => ({
    name: service,
    service,
    url: addresses.local[service],
    readyUrl: `${addresses.local[service]}/ready`,
    after: after.map(({ name }) => name),
    variables: environment[service],
    secrets: read,
  });
  const bus = busParts(of);
  const graph = graphParts(of);
  const backend = ofService(
    'backend',
    [...bus, ...graph],
    [...[secrets.encryptionKey, secrets.jwtPrivateKey], ...graphSecretsOf(of)],
  );
  const runtimes = replicasOf(ofService('runtime', [backend], [secrets.runtimeKey]), of);
  const frontend = ofService('frontend', [backend], []);
  // Agents are let in last: one that waits for the address to be back must not be shown what does not run yet.
  const remoteMcps = replicasOf(ofService('remote-mcp', [...runtimes, frontend], [secrets.remoteMcpKey]), of);
  const front = frontPart(of, { 'remote-mcp': remoteMcps, backend: [backend], frontend: [frontend] });
  return [backend, ...remoteMcps, ...runtimes, frontend, ...bus, ...graph, ...(front === null ? [] : [front])];
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

/** The bus, unless somebody else runs it. Its configuration holds no secret, so that public keys are all that it is given. */
function busParts({ installation, definition, ports, secrets }: EnvironmentOf): readonly Part[] {
  if (!hasOwnBus(definition)) return [];
  const { bus } = definition;
  const bind = bus.public?.bind ?? loopback;
  const tls = bus.public?.tls == null ? null : tlsFilesIn(installation.dir, bus.public.tls);
  return [
    {
      name: 'nats',
      service: 'nats',
      url: `nats://${reachable(bind)}:${ports.nats}`,
      readyUrl: `${httpAddress(loopback, ports['nats-http'] ?? 0)}/healthz`,
      after: [],
      variables: {
        NAME: `svc-${definition.id}`,
        LISTEN: hostAndPort(bind, ports.nats),
        HTTP_LISTEN: hostAndPort(loopback, ports['nats-http']),
        STORE_DIR: join(installation.dataDir, 'nats'),
        TLS: tls === null ? '' : tlsOf(tls),
      },
      // A certificate that was renewed is taken up like everything else that differs.
      secrets: [
        ...[secrets.busCalloutSeed, secrets.busSystemSeed, secrets.busIssuerSeed],
        ...(tls === null ? [] : [tls.cert, tls.key]),
      ],
    },
  ];
}

function hostAndPort(host: string, port = 0): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** As nats-server reads it: its strings are those of JSON. */
function tlsOf({ cert, key }: TlsFiles): string {
  return `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`;
}

/** Dgraph, where it is our own: a coordination node, and a data node that needs it. */
function graphParts({ definition, ports, secrets }: EnvironmentOf): readonly Part[] {
  if (!hasOwnGraph(definition)) return [];
  const [zero, alpha] = [zeroPorts(ports), alphaPorts(ports)];
  const coordination: Part = {
    name: 'dgraph-zero',
    service: 'dgraph-zero',
    url: `dgraph://${loopback}:${zero.grpc}`,
    readyUrl: `${httpAddress(loopback, zero.http)}/health`,
    after: [],
    variables: {
      BIND_ALL: 'false',
      ADDRESS: hostAndPort(loopback, zero.grpc),
      PORT_OFFSET: String(zero.offset),
      DATA: 'data/dgraph/zero',
    },
    secrets: [secrets.graphToken],
  };
  const data: Part = {
    name: 'dgraph-alpha',
    service: 'dgraph-alpha',
    url: `dgraph://${loopback}:${alpha.grpc}`,
    readyUrl: `${httpAddress(loopback, alpha.http)}/health`,
    after: [coordination.name],
    variables: {
      BIND_ALL: 'false',
      ADDRESS: hostAndPort(loopback, alpha.internal),
      ZERO: hostAndPort(loopback, zero.grpc),
      PORT_OFFSET: String(alpha.offset),
      DATA: 'data/dgraph/alpha',
      ACL_KEY: `secrets/${basename(secrets.graphAclKey)}`,
      CACHE_MB: String(definition.graphdb.cacheMb),
    },
    secrets: [secrets.graphToken, secrets.graphAclKey],
  };
  return [coordination, data];
}

/** Those that the backend shows to Dgraph. */
function graphSecretsOf({ definition: { graph, graphdb }, secrets }: EnvironmentOf): readonly string[] {
  if (graph === 'sqlite') return [];
  const isOwn = graphdb.url === 'auto';
  return [
    ...(isOwn || graphdb.user !== undefined ? [secrets.graphPassword] : []),
    ...(isOwn || graphdb.token ? [secrets.graphToken] : []),
  ];
}

/** Those that do not have the port of their service are reached on this machine only, on ports of their own. */
function replicasOf(first: Part, { installation, definition, ports }: EnvironmentOf): readonly Part[] {
  const service = first.service === 'remote-mcp' ? 'remote-mcp' : 'runtime';
  const portNames = replicaPortNames(service, definition);
  return replicaNames(service, definition.replicas[service]).map((name, index) => {
    const portName = portNames[index] ?? name;
    if (portName === service) return first;
    const port = ports[portName] ?? 0;
    const url = httpAddress(loopback, port);
    const own = service === 'runtime' ? { SVC_WORKING_DIR: runtimeDirOf(installation, name) } : {};
    const variables = { ...first.variables, REMOTE_PORT: String(port), BIND_HOST: loopback, ...own };
    return { ...first, name, url, readyUrl: `${url}/ready`, variables };
  });
}
