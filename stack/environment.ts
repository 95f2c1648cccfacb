import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkEnv, type EnvRecord } from '../services/contracts/env/check.ts';
import type { Variable } from '../services/contracts/env/variable.ts';
import { type ServiceName, variables } from '../services/contracts/env/variables.ts';
import { SvcError } from '../services/contracts/errors.ts';
import { type Addresses, reachable } from './addresses.ts';
import { alphaPorts } from './graph/dgraph-ports.ts';
import { graphUser } from './graph/graph-user.ts';
import { isGraphOnLoopback } from './graph/has-own-graph.ts';
import { type Installation, runtimeDirOf } from './installation.ts';
import { loopback, type Ports, replicaNames, serviceBind, usualBusPorts } from './ports/port-wishes.ts';
import type { SecretFiles } from './secrets.ts';
import { tlsFilesIn } from './settings/certificate.ts';
import type { Definition } from './settings/definition.ts';
import { variablesOf } from './settings/setting.ts';
import { placeOf, settings } from './settings/settings.ts';

/** The variables of each service. Secrets are named by file and never stand here. */
export type Environment = { readonly [Service in ServiceName]: Readonly<Record<string, string>> };

export interface EnvironmentOf {
  readonly installation: Installation;
  readonly definition: Definition;
  readonly ports: Ports;
  readonly addresses: Addresses;
  readonly secrets: SecretFiles;
}

/** What services read, and what a person chose: a variable that nothing reads yet stands here only for a choice in svc.yaml. */
export function environmentOf(of: EnvironmentOf): Environment {
  const { installation, definition, ports, addresses, secrets } = of;
  const shared = { NODE_ENV: 'production', BIND_HOST: serviceBind(definition) };
  const onBus = { ...shared, ...busVariables(of) };
  return {
    backend: {
      ...onBus,
      ...variablesOf(settings, 'backend', definition),
      PORT: String(ports.backend),
      ...graphVariables(of),
      ENCRYPTION_KEY_FILE: secrets.encryptionKey,
      JWT_PRIVATE_KEY_PATH: secrets.jwtPrivateKey,
      JWT_PUBLIC_KEY_PATH: secrets.jwtPublicKey,
      PUBLIC_BACKEND_URL: addresses.public.backend,
      PUBLIC_FRONTEND_URL: addresses.public.frontend,
      PUBLIC_MCP_URL: addresses.public.mcp,
      CORS_ORIGINS: browserOrigins(definition, addresses).join(','),
      ...files(of),
      ...busKeys(of),
      ...mailProvider(definition, secrets),
      ...definition.environment.backend,
    },
    'remote-mcp': {
      ...onBus,
      ...persistence(definition),
      ...variablesOf(settings, 'remote-mcp', definition),
      REMOTE_PORT: String(ports['remote-mcp']),
      SYSTEM_KEY_FILE: secrets.remoteMcpKey,
      PRIVATE_BACKEND_URL: addresses.local.backend,
      PUBLIC_BACKEND_URL: addresses.public.backend,
      PUBLIC_MCP_URL: addresses.public.mcp,
      ...definition.environment['remote-mcp'],
    },
    runtime: {
      ...onBus,
      ...variablesOf(settings, 'runtime', definition),
      REMOTE_PORT: String(ports.runtime),
      SYSTEM_KEY_FILE: secrets.runtimeKey,
      SVC_WORKING_DIR: runtimeDirOf(installation),
      ...sandbox(of),
      // Of a runtime in a container they are what is mounted there: it sees nothing else of this machine.
      ...(definition.engine === 'docker' ? {} : given('SVC_ALLOWED_PATHS', definition.runtime.allowedPaths.join(':'))),
      ...definition.environment.runtime,
    },
    frontend: {
      ...shared,
      ...variablesOf(settings, 'frontend', definition),
      PORT: String(ports.frontend),
      PUBLIC_BACKEND_URL: addresses.public.backend,
      PUBLIC_MCP_URL: addresses.public.mcp,
      ...definition.environment.frontend,
    },
  };
}

/** What is the platform's own is hidden, wherever it lies in what an MCP server is given. */
function sandbox({ installation, definition }: EnvironmentOf): Record<string, string> {
  const { engine, runtime, images, limits } = definition;
  // A container holds nothing of the installation but its key, which the runtime hides by itself.
  if (runtime.sandbox === 'none-for-everybody' || engine === 'docker') return {};
  const { secretsDir, dataDir, stateDir, logsDir, definitionFile } = installation;
  const container = {
    MCP_SERVER_DOCKER_SOCKET: runtime.dockerSocket,
    MCP_SERVER_IMAGE: images.base,
    MCP_SERVER_MEMORY_MAX_MB: String(limits.memoryMaxMb['mcp-server']),
  };
  return {
    ...(runtime.sandbox === 'container' ? container : {}),
    ...given('MCP_SERVER_MEMBER_FOLDERS', runtime.memberFolders.join(':')),
    MCP_SERVER_HIDDEN_PATHS: [secretsDir, dataDir, stateDir, logsDir, definitionFile].join(':'),
  };
}

/** How services reach the bus; the runtimes elsewhere have addresses of their own. */
function busVariables({ installation, definition, ports }: EnvironmentOf): Record<string, string> {
  const { topology, bus, replicas } = definition;
  if (topology === 'embedded') return { BUS_SERVERS: 'inproc:' };
  if (bus.servers !== 'auto') {
    const ca = bus.ca === undefined ? '' : resolve(installation.dir, bus.ca);
    return { BUS_SERVERS: bus.servers.join(','), ...given('BUS_CA_PATH', ca) };
  }
  const { bind = loopback, tls = null, servers = [] } = bus.public ?? {};
  if (tls === null) {
    const nodes = replicaNames('nats', replicas.nats);
    return {
      BUS_SERVERS: nodes.map((node) => `nats://${reachable(bind)}:${ports[node] ?? usualBusPorts.nats}`).join(','),
    };
  }
  // Its certificate vouches for these names only, and it lets nobody in without TLS.
  return { BUS_SERVERS: servers.join(','), ...given('BUS_CA_PATH', tlsFilesIn(installation.dir, tls).ca ?? '') };
}

/** Where the graph is, and as whom the backend comes there. */
function graphVariables({ installation, definition, ports, secrets }: EnvironmentOf): Record<string, string> {
  const { graph, graphdb, replicas } = definition;
  if (graph === 'sqlite') {
    return { PRIVATE_GRAPHDB_URL: pathToFileURL(join(installation.dataDir, 'graph.sqlite')).href };
  }
  if (graphdb.url === 'auto') {
    const isOpen = isGraphOnLoopback(definition);
    const nodes = replicaNames('dgraph-alpha', replicas['dgraph-alpha']).map((node) => alphaPorts(ports, node));
    return {
      PRIVATE_GRAPHDB_URL: `${isOpen ? 'https' : 'http'}://${loopback}:${alphaPorts(ports).http}`,
      ...(isOpen ? { PRIVATE_GRAPHDB_CA_PATH: secrets.graphNodeCertificate } : {}),
      PRIVATE_GRAPHDB_GRPC_URL: nodes.map(({ grpc }) => `${loopback}:${grpc}`).join(','),
      PRIVATE_GRAPHDB_USER: graphUser,
      PRIVATE_GRAPHDB_PASSWORD_FILE: secrets.graphPassword,
      PRIVATE_GRAPHDB_TOKEN_FILE: secrets.graphToken,
    };
  }
  const { url, grpc, ca, user, token } = graphdb;
  return {
    PRIVATE_GRAPHDB_URL: url,
    ...given('PRIVATE_GRAPHDB_GRPC_URL', grpc === 'auto' ? '' : grpc.join(',')),
    ...given('PRIVATE_GRAPHDB_CA_PATH', ca === undefined ? '' : resolve(installation.dir, ca)),
    ...(user === undefined ? {} : { PRIVATE_GRAPHDB_USER: user, PRIVATE_GRAPHDB_PASSWORD_FILE: secrets.graphPassword }),
    ...(token ? { PRIVATE_GRAPHDB_TOKEN_FILE: secrets.graphToken } : {}),
  };
}

/** Files lie where the graph lies: beside its file, or where every backend that shares a Dgraph reaches them, which is on the bus. */
function files({ installation, definition }: EnvironmentOf): Record<string, string> {
  return definition.graph === 'sqlite' ? { FILES_DIR: join(installation.dataDir, 'blobs') } : {};
}

/** Only the backend decides who is let in, and holds what that takes. */
function busKeys({ definition, secrets }: EnvironmentOf): Record<string, string> {
  if (definition.topology === 'embedded') return {};
  return {
    ...persistence(definition),
    BUS_CALLOUT_SEED_FILE: secrets.busCalloutSeed,
    BUS_SYSTEM_SEED_FILE: secrets.busSystemSeed,
    BUS_ISSUER_SEED_FILE: secrets.busIssuerSeed,
    ...given('PUBLIC_BUS_SERVERS', definition.bus.public?.servers.join(',') ?? ''),
  };
}

/** The bus inside the one process is told by whoever starts it. */
function persistence({ topology, bus }: Definition): Record<string, string> {
  return topology === 'embedded' ? {} : { BUS_PERSISTENT_MESSAGING: String(bus.persistentMessaging) };
}

/** The content of a file in secrets/; undefined where it is still to be generated. */
type ReadSecret = (file: string) => string | undefined;

/** Throws one error that names every variable a service would refuse, and the place in svc.yaml that decides it. */
export function checkEnvironment(environment: Environment, readSecret: ReadSecret): void {
  const lines = servicesOf(environment).flatMap((service) =>
    checkEnv(service, withSecrets(service, environment[service], readSecret)).problems.map(
      ({ variable, rule, repair }) =>
        `${placeOf(service, variable) ?? `environment.${service}`}: ${variable} of ${service} ${rule}. ${repair}`,
    ),
  );
  if (lines.length > 0)
    throw new SvcError('invalid_input', lines.join('\n'), { hint: 'Mend svc.yaml: svc config check' });
}

/** What svc.yaml sets without effect, a line each. */
export function withoutEffect(environment: Environment): readonly string[] {
  return servicesOf(environment).flatMap((service) =>
    checkEnv(service, environment[service]).warnings.map((warning) => `${service}: ${warning}`),
  );
}

export function servicesOf(environment: Environment): readonly ServiceName[] {
  return Object.keys(environment) as ServiceName[];
}

function browserOrigins({ origins }: Definition, addresses: Addresses): readonly string[] {
  if (origins.browsers !== 'auto') return origins.browsers;
  const own = [addresses.public.frontend, addresses.public.backend, addresses.local.frontend];
  return [...new Set(own.map((url) => new URL(url).origin))];
}

function mailProvider({ mail: { provider, url } }: Definition, { mailKey }: SecretFiles): Record<string, string> {
  switch (provider) {
    case 'log':
      return {};
    case 'provider_a':
      return { PROVIDER_A_API_KEY_FILE: mailKey, ...given('PROVIDER_A_URL', url ?? '') };
    case 'provider_b':
      return { PROVIDER_B_API_KEY_FILE: mailKey, ...given('PROVIDER_B_URL', url ?? '') };
  }
}

/** An empty variable is an unset one. */
function given(name: string, value: string): Record<string, string> {
  return value === '' ? {} : { [name]: value };
}

function withSecrets(service: ServiceName, record: EnvRecord, readSecret: ReadSecret): EnvRecord {
  const resolved: Record<string, string | undefined> = { ...record };
  for (const [name, entry] of Object.entries<Variable<unknown>>(variables[service])) {
    const file = record[`${name}_FILE`];
    if (entry.secret && file !== undefined) resolved[name] = readSecret(file);
  }
  return resolved;
}
