import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { rejected, type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { type Complaint, type Field, isScalar } from './field.ts';

/**
 * Variables that have a place of their own: a field of svc.yaml, a file in secrets/, or the topology. Setting one of them
 * twice would leave open which counts, so `environment` refuses them and names the place.
 */
export const ownPlaces: { readonly [Service in ServiceName]: Readonly<Record<string, string>> } = {
  backend: {
    PORT: 'ports.backend',
    BIND_HOST: 'bind',
    NODE_ENV: 'the topology',
    PRIVATE_GRAPHDB_URL: 'graphdb.url',
    PRIVATE_GRAPHDB_GRPC_URL: 'graphdb.grpc',
    PRIVATE_GRAPHDB_CA_PATH: 'graphdb.ca',
    PRIVATE_GRAPHDB_USER: 'graphdb.user',
    PRIVATE_GRAPHDB_PASSWORD: 'secrets/graphdb-password.key',
    PRIVATE_GRAPHDB_TOKEN: 'secrets/graphdb-token.key',
    BUS_SERVERS: 'the topology',
    PUBLIC_BUS_SERVERS: 'bus.public.servers',
    BUS_CA_PATH: 'bus.ca',
    BUS_PERSISTENT_MESSAGING: 'bus.persistentMessaging',
    BUS_CALLOUT_SEED: 'secrets/bus-callout.seed',
    BUS_SYSTEM_SEED: 'secrets/bus-system.seed',
    BUS_ISSUER_SEED: 'secrets/bus-issuer.seed',
    PRIVATE_MCP_URL: 'ports.remote-mcp',
    FILES_DIR: 'graph',
    SVC_MAX_FILE_SIZE_MB: 'limits.fileSizeMaxMb',
    ENCRYPTION_KEY: 'secrets/encryption.key',
    JWT_PRIVATE_KEY_PATH: 'secrets/jwt-private.pem',
    JWT_PUBLIC_KEY_PATH: 'secrets/jwt-public.pem',
    LOG_LEVEL: 'logs.level',
    CORS_ORIGINS: 'origins.browsers',
    PUBLIC_BACKEND_URL: 'publicUrls.backend',
    PUBLIC_FRONTEND_URL: 'publicUrls.frontend',
    PUBLIC_MCP_URL: 'publicUrls.mcp',
    EMAIL_PROVIDER: 'mail.provider',
    EMAIL_FROM: 'mail.from',
    EMAIL_FROM_NAME: 'mail.fromName',
    PROVIDER_A_API_KEY: 'secrets/mail.key',
    PROVIDER_B_API_KEY: 'secrets/mail.key',
    PROVIDER_A_URL: 'mail.url',
    PROVIDER_B_URL: 'mail.url',
    PROVIDER_A_TIMEOUT_SECONDS: 'mail.timeoutSeconds',
    MCP_SERVER_COMMANDS: 'runtime.commands',
  },
  'remote-mcp': {
    REMOTE_PORT: 'ports.remote-mcp',
    BIND_HOST: 'bind',
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    BUS_CA_PATH: 'bus.ca',
    BUS_PERSISTENT_MESSAGING: 'bus.persistentMessaging',
    PRIVATE_BACKEND_URL: 'ports.backend',
    SYSTEM_KEY: 'secrets/system-remote-mcp.key',
    LOG_LEVEL: 'logs.level',
    LOG_LEVELS: 'logs.levels',
    PUBLIC_BACKEND_URL: 'publicUrls.backend',
    PUBLIC_MCP_URL: 'publicUrls.mcp',
    SVC_ALLOWED_ORIGINS: 'origins.agents',
    SVC_PREVENT_DNS_REBINDING: 'origins.preventDnsRebinding',
    SVC_SESSION_IDLE_TIMEOUT_MS: 'limits.sessionIdleTimeoutMs',
  },
  runtime: {
    REMOTE_PORT: 'ports.runtime',
    BIND_HOST: 'bind',
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    BUS_CA_PATH: 'bus.ca',
    PRIVATE_MCP_URL: 'ports.remote-mcp',
    SYSTEM_KEY: 'secrets/system-runtime.key',
    RUNTIME_KEY: 'secrets/system-runtime.key',
    RUNTIME_NAME: 'runtime.name',
    SVC_WORKING_DIR: 'the installation folder',
    MCP_SERVER_SANDBOX: 'runtime.sandbox',
    MCP_SERVER_DOCKER_SOCKET: 'runtime.dockerSocket',
    MCP_SERVER_IMAGE: 'images.base',
    MCP_SERVER_MEMORY_MAX_MB: 'limits.memoryMaxMb.mcp-server',
    MCP_SERVER_HIDDEN_PATHS: 'the installation folder',
    MCP_SERVER_MEMBER_FOLDERS: 'runtime.memberFolders',
    MCP_SERVER_ALLOWED_ADDRESSES: 'runtime.allowedAddresses',
    SVC_ALLOWED_PATHS: 'runtime.allowedPaths',
    SVC_MAX_FILE_SIZE_MB: 'limits.fileSizeMaxMb',
    LOG_LEVEL: 'logs.level',
    LOG_LEVELS: 'logs.levels',
  },
  frontend: {
    PORT: 'ports.frontend',
    BIND_HOST: 'bind',
    NODE_ENV: 'the topology',
    BUILD_PUBLIC_BACKEND_URL: 'publicUrls.backend',
    PUBLIC_BACKEND_URL: 'publicUrls.backend',
    PUBLIC_MCP_URL: 'publicUrls.mcp',
    LOG_LEVEL: 'logs.level',
  },
};

type Extra = Readonly<Record<string, string>>;

/** Variables of a service that have no place of their own. */
export function extraVariables(service: ServiceName): Field<Extra> {
  const complaints = (raw: unknown) => complaintsOf(service, raw);
  return {
    rule: 'variables with their values, such as { HEARTBEAT_INTERVAL: 1000 }',
    complaints,
    parse: (raw) => {
      if (!isObject(raw) || complaints(raw).length > 0) return null;
      return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]));
    },
  };
}

function complaintsOf(service: ServiceName, raw: unknown): readonly Complaint[] {
  if (!isObject(raw)) return [];
  const table: Readonly<Record<string, Variable<unknown>>> = variables[service];
  return Object.entries(raw).flatMap(([name, value]): readonly Complaint[] => {
    const about = (message: string, aboutName = true) => [{ path: [name], message, aboutName }];
    const place = ownPlaces[service][name.replace(/_FILE$/, '')];
    if (place !== undefined) return about(`${name} is decided by ${place}, and there only.`);
    const repair = rejected[service]?.[name];
    if (repair !== undefined) return about(`${name} is rejected by ${service}. ${repair}`);
    const secretOfFile = name.endsWith('_FILE') && table[name.slice(0, -'_FILE'.length)]?.secret === true;
    if (secretOfFile && typeof value === 'string' && value.startsWith('/')) return [];
    const variable = table[name];
    if (variable === undefined) {
      const free = Object.keys(table).filter((known) => ownPlaces[service][known] === undefined);
      return about(`"${name}" is not a variable of ${service}. ${suggestion(name, free)}`);
    }
    if (variable.secret) return about(`${name} is a secret: put it into a file and name that file in ${name}_FILE.`);
    if (isScalar(value) && variable.parse(String(value)) !== null) return [];
    return about(`${name} must be ${variable.rule}.`, false);
  });
}
