import {
  agentSessions,
  authorizationServer,
  backendServer,
  boot,
  files,
  frontend,
  mail,
  type Requirement,
  runtimeBus,
  transport,
  variablesTest,
} from './requirement.ts';

const parts = 'stack/parts/parts.test.ts';
const dgraphParts = `${parts}: own Dgraph are its two nodes too`;
const processes = 'stack/test/processes.test.ts';
const natsTest = 'services/kit/bus/nats/server.test.ts';
const commands = 'services/backend/test/commands.test.ts';
const secrets = 'services/backend/secrets/secrets.test.ts';
const sandbox = 'services/runtime/test/sandbox.test.ts';
const members = 'services/runtime/test/members.test.ts';
const contained = 'services/runtime/test/contained.test.ts';
const telemetry = 'later: comes with metrics and traces';

/** Every variable of the specification's part 8, and every one of our own. */
export const variableRequirements: readonly Requirement[] = [
  { id: '8.backend.PORT', says: 'HTTP port', shown: [`${variablesTest}: backend PORT`] },
  {
    id: '8.backend.PRIVATE_GRAPHDB_URL',
    says: 'Graph endpoint',
    shown: [`${variablesTest}: backend PRIVATE_GRAPHDB_URL`],
  },
  { id: '8.backend.BUS_SERVERS', says: 'Bus address', shown: [`${boot}: on a bus that does not exist`] },
  {
    id: '8.backend.PUBLIC_BUS_SERVERS',
    says: 'Bus list advertised to external runtimes',
    shown: [`${variablesTest}: backend PUBLIC_BUS_SERVERS`],
  },
  {
    id: '8.backend.ENCRYPTION_KEY',
    says: 'Secret-encryption key',
    shown: [`${boot}: with an encryption key that differs from the one of its records`],
  },
  { id: '8.backend.JWT_PRIVATE_KEY_PATH', says: 'Private key', shown: [`${boot}: without its signing keys`] },
  {
    id: '8.backend.JWT_PUBLIC_KEY_PATH',
    says: 'Public key',
    shown: [`${boot}: with a public key that is missing or belongs to another private key`],
  },
  { id: '8.backend.JWT_ISSUER', says: 'Issuer claim', shown: [`${boot}: JWT_ISSUER decides whose tokens are good`] },
  { id: '8.backend.JWT_ACCESS_TOKEN_TTL', says: '900 seconds', shown: authorizationServer },
  { id: '8.backend.JWT_REFRESH_TOKEN_TTL', says: '604800 seconds', shown: authorizationServer },
  {
    id: '8.backend.IDENTITY_KEY_USAGE_THROTTLE_SECONDS',
    says: 'Last-used at most once in 60 s',
    shown: [`${variablesTest}: backend IDENTITY_KEY_USAGE_THROTTLE_SECONDS`],
  },
  { id: '8.backend.LOG_LEVEL', says: 'Verbosity', shown: [`${boot}: LOG_LEVEL decides what is logged`] },
  { id: '8.backend.CORS_ORIGINS', says: 'Allowed origins', shown: [`${backendServer}: one that is listed may call`] },
  {
    id: '8.backend.PRIVATE_MCP_URL',
    says: 'remote-mcp over the internal network',
    shown: 'later: comes with the first request of the backend to remote-mcp',
  },
  {
    id: '8.backend.PUBLIC_BACKEND_URL',
    says: 'Public base URL of the backend',
    shown: [`${variablesTest}: backend PUBLIC_BACKEND_URL`],
  },
  {
    id: '8.backend.PUBLIC_FRONTEND_URL',
    says: 'Public URL of the frontend',
    shown: 'later: comes with e-mail links and OAuth callbacks',
  },
  {
    id: '8.backend.PUBLIC_MCP_URL',
    says: 'Public URL of remote-mcp',
    shown: [`${variablesTest}: backend PUBLIC_MCP_URL`],
  },
  ...[
    'EMAIL_PROVIDER',
    'PROVIDER_A_API_KEY',
    'PROVIDER_B_API_KEY',
    'EMAIL_FROM',
    'EMAIL_FROM_NAME',
    'PROVIDER_A_TIMEOUT_SECONDS',
  ].map((name): Requirement => ({ id: `8.backend.${name}`, says: 'Mail', shown: mail })),
  {
    id: '8.frontend.BUILD_PUBLIC_BACKEND_URL',
    says: 'Backend URL at build time',
    shown: [`${frontend}: without it the build-time value is used`],
  },
  {
    id: '8.frontend.PUBLIC_BACKEND_URL',
    says: 'Backend URL at run time',
    shown: [`${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`],
  },
  { id: '8.runtime.RUNTIME_KEY', says: 'Runtime credential', shown: [`${variablesTest}: runtime RUNTIME_KEY`] },
  { id: '8.runtime.SYSTEM_KEY', says: 'System credential', shown: [`${variablesTest}: runtime SYSTEM_KEY`] },
  {
    id: '8.runtime.RUNTIME_NAME',
    says: 'Name, required with SYSTEM_KEY',
    shown: [`${variablesTest}: runtime RUNTIME_NAME`],
  },
  { id: '8.runtime.BUS_SERVERS', says: 'Bus address', shown: [`${processes}: every part is a process of its own`] },
  {
    id: '8.runtime.REMOTE_PORT',
    says: 'Web service with /health and /ready, none without it',
    shown: [`${variablesTest}: runtime REMOTE_PORT`],
  },
  { id: '8.runtime.LOG_LEVEL', says: 'Verbosity', shown: [`${variablesTest}: runtime LOG_LEVEL`] },
  { id: '8.runtime.LOG_LEVELS', says: 'Levels by pattern', shown: [`${variablesTest}: runtime LOG_LEVELS`] },
  {
    id: '8.runtime.FORWARD_STDERR',
    says: "Children's stderr in the log",
    shown: [`${variablesTest}: runtime FORWARD_STDERR`],
  },
  {
    id: '8.runtime.HEARTBEAT_INTERVAL',
    says: '5000 ms',
    shown: [`${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`],
  },
  {
    id: '8.runtime.PRIVATE_MCP_URL',
    says: 'Address that the delegate tool dials',
    shown: 'later: comes with the delegate tool',
  },
  {
    id: '8.runtime.SVC_ALLOWED_PATHS',
    says: 'Safelist for file access',
    shown: [`${sandbox}: reads allowed paths`],
  },
  { id: '8.runtime.SVC_WORKING_DIR', says: 'Working directory', shown: [`${variablesTest}: runtime SVC_WORKING_DIR`] },
  ...['SVC_MAX_FILE_SIZE_MB', 'SVC_GC_INTERVAL_MS', 'SVC_GC_MAX_AGE_MS', 'SVC_ASSET_CACHE_MAX_AGE_MS'].map(
    (name): Requirement => ({ id: `8.runtime.${name}`, says: 'Files and their limits', shown: files }),
  ),
  {
    id: '8.remote-mcp.SYSTEM_KEY',
    says: 'Only accepted credential',
    shown: [`${variablesTest}: remote-mcp SYSTEM_KEY`],
  },
  { id: '8.remote-mcp.BUS_SERVERS', says: 'Bus address', shown: [`${processes}: every part is a process of its own`] },
  {
    id: '8.remote-mcp.REMOTE_PORT',
    says: 'Port of /mcp, /health, /ready',
    shown: [`${variablesTest}: remote-mcp REMOTE_PORT`],
  },
  {
    id: '8.remote-mcp.PRIVATE_BACKEND_URL',
    says: 'Backend for catalogue pulls',
    shown: [`${variablesTest}: remote-mcp PRIVATE_BACKEND_URL`],
  },
  { id: '8.remote-mcp.PUBLIC_MCP_URL', says: 'Own public URL', shown: authorizationServer },
  { id: '8.remote-mcp.PUBLIC_BACKEND_URL', says: 'Authorization server', shown: authorizationServer },
  { id: '8.remote-mcp.LOG_LEVEL', says: 'Verbosity', shown: [`${variablesTest}: remote-mcp LOG_LEVEL`] },
  { id: '8.remote-mcp.LOG_LEVELS', says: 'Levels by pattern', shown: [`${variablesTest}: remote-mcp LOG_LEVELS`] },
  {
    id: '8.remote-mcp.SVC_ALLOWED_ORIGINS',
    says: 'Allowed origins',
    shown: [`${transport}: a listed origin may call, and may read the headers that it needs`],
  },
  {
    id: '8.remote-mcp.SVC_PREVENT_DNS_REBINDING',
    says: 'Origin validation',
    shown: [`${transport}: with SVC_PREVENT_DNS_REBINDING=false no origin is refused`],
  },
  {
    id: '8.remote-mcp.SVC_SESSION_IDLE_TIMEOUT_MS',
    says: 'Idle sessions end',
    shown: [`${agentSessions}: ends a session that is idle for longer, and none that is used or has an open stream`],
  },
  { id: '8.infrastructure.GRAPHDB_HTTP_PORT', says: '8080', shown: [dgraphParts] },
  { id: '8.infrastructure.GRAPHDB_GRPC_PORT', says: '9080', shown: [dgraphParts] },
  { id: '8.infrastructure.GRAPHDB_ZERO_PORT', says: '5080', shown: [dgraphParts] },
  {
    id: '8.infrastructure.BUS_PORT',
    says: '4222',
    shown: [`${parts}: nats-server: its listen address and folder, and no secret`],
  },
  {
    id: '8.infrastructure.BUS_HTTP_PORT',
    says: '8222',
    shown: [`${parts}: nats-server: its monitoring only when svc.yaml names a port, and then on this machine`],
  },
  {
    id: '8.infrastructure.BUS_PERSISTENT_MESSAGING',
    says: 'Persistent messaging',
    shown: [`${variablesTest}: infrastructure BUS_PERSISTENT_MESSAGING`],
  },

  // Our own variables
  {
    id: 'additions.backend.ENCRYPTION_KEY_PREVIOUS',
    says: 'The encryption key before the present one',
    shown: [
      'services/backend/secrets/check-encryption-key.test.ts: a new key takes over from the previous one',
      `${secrets}: the previous key still decrypts, the current one encrypts`,
    ],
  },
  {
    id: 'additions.backend.JWT_PREVIOUS_PUBLIC_KEY_PATH',
    says: 'The signing key before the present one',
    shown: [`${boot}: JWT_PREVIOUS_PUBLIC_KEY_PATH keeps tokens of the earlier key valid`],
  },
  {
    id: 'additions.backend.MCP_SERVER_COMMANDS',
    says: 'Which commands MCP servers may run',
    shown: [
      `${commands}: none: MCP servers run no command, and no role changes that`,
      `${commands}: a list: these commands`,
      `${variablesTest}: backend MCP_SERVER_COMMANDS`,
    ],
  },
  { id: 'additions.backend.BIND_HOST', says: 'Where it listens', shown: [`${boot}: BIND_HOST is where it listens`] },
  {
    id: 'additions.backend.NODE_ENV',
    says: 'production is strict',
    shown: [`${variablesTest}: backend NODE_ENV`],
  },
  {
    id: 'additions.frontend.PUBLIC_MCP_URL',
    says: 'Address agents connect to',
    shown: [`${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`],
  },
  { id: 'additions.frontend.PORT', says: 'HTTP port', shown: [`${variablesTest}: frontend PORT`] },
  { id: 'additions.frontend.LOG_LEVEL', says: 'Verbosity', shown: [`${variablesTest}: frontend LOG_LEVEL`] },
  ...['frontend', 'runtime', 'remote-mcp'].map(
    (service): Requirement => ({
      id: `additions.${service}.BIND_HOST`,
      says: 'Where it listens',
      shown: [`${variablesTest}: ${service} BIND_HOST`],
    }),
  ),
  ...['frontend', 'remote-mcp'].map(
    (service): Requirement => ({
      id: `additions.${service}.NODE_ENV`,
      says: 'production is strict',
      shown: [`${variablesTest}: ${service} NODE_ENV`],
    }),
  ),
  {
    id: 'additions.runtime.NODE_ENV',
    says: 'production is strict',
    shown: 'later: comes with the first rule of production that concerns runtimes',
  },
  {
    id: 'additions.runtime.MCP_SERVER_SANDBOX',
    says: 'How MCP servers are kept apart',
    shown: [
      `${sandbox}: everything of the platform, of other MCP servers and of the machine that is visible without a sandbox is hidden`,
      'services/runtime/test/sandboxed-lives.test.ts: the whole tree ends with the MCP server',
      `${members}: %s runs in a sandbox, and an operator`,
      `${members}: with none-for-everybody runs as an operator’s`,
    ],
  },
  {
    id: 'additions.runtime.MCP_SERVER_MEMBER_FOLDERS',
    says: 'Where members may have working directories',
    shown: [
      `${members}: works only below folders that are named for members`,
      'services/runtime/test/never-mounted.test.ts: that %s is refused to operators and members',
    ],
  },
  {
    id: 'additions.runtime.MCP_SERVER_ALLOWED_ADDRESSES',
    says: 'Addresses that are not public and that URLs of members may lead to',
    shown: [
      "services/runtime/test/addresses.test.ts: the operator's list lets members reach an address",
      'stack/test/adversary/hostile-member.test.ts: is refused where an operator set the same URL before, and reached once the operator allows the address',
    ],
  },
  {
    id: 'additions.runtime.MCP_SERVER_DOCKER_SOCKET',
    says: 'Where containers of MCP servers are run',
    shown: [`${contained}: a stopped Docker is explained and waited for`, `${contained}: because %s`],
  },
  {
    id: 'additions.runtime.MCP_SERVER_IMAGE',
    says: 'What containers of MCP servers are made of',
    shown: [`${contained}: a missing image is named`, `${contained}: servers of packages work`],
  },
  {
    id: 'additions.runtime.MCP_SERVER_MEMORY_MAX_MB',
    says: 'The most memory of one',
    shown: [`${contained}: a command missing in the image, and too much memory, are explained`],
  },
  {
    id: 'additions.runtime.MCP_SERVER_HIDDEN_PATHS',
    says: 'What sandboxed MCP servers never see',
    shown: [`${sandbox}: an allowed path that contains the installation shows nothing of it`],
  },
  {
    id: 'additions.backend.FILES_DIR',
    says: 'Folder of stored files',
    shown: [
      `${variablesTest}: backend FILES_DIR`,
      'services/backend/files/jetstream-blobs.test.ts: blobs in JetStream',
    ],
  },
  {
    id: 'additions.backend.SVC_MAX_FILE_SIZE_MB',
    says: 'Largest file',
    shown: [`${variablesTest}: backend SVC_MAX_FILE_SIZE_MB`],
  },
  {
    id: 'additions.backend.HISTORY_DAYS',
    says: 'Days that activity and usage are kept',
    shown: [
      'services/backend/collect-garbage.test.ts: activity and usage older than HISTORY_DAYS are removed in every workspace, and the rest stays',
    ],
  },
  ...['PROVIDER_A_URL', 'PROVIDER_B_URL', 'SMTP_HOST', 'SMTP_PORT', 'SMTP_TLS', 'SMTP_USER', 'SMTP_PASSWORD'].map(
    (name): Requirement => ({ id: `additions.backend.${name}`, says: 'Mail', shown: mail }),
  ),
  ...['CALLOUT', 'SYSTEM', 'ISSUER'].map(
    (name): Requirement => ({
      id: `additions.backend.BUS_${name}_SEED`,
      says: 'Credentials for the bus',
      shown: [`${natsTest}: a backend with another %s seed is refused`],
    }),
  ),
  ...['backend', 'remote-mcp'].map(
    (service): Requirement => ({
      id: `additions.${service}.BUS_PERSISTENT_MESSAGING`,
      says: 'Kept on disk, or in memory',
      shown: [
        'services/remote-mcp/test/persistent-messaging.test.ts: decides whether NATS keeps them on disk or in memory',
      ],
    }),
  ),
  ...['backend', 'runtime', 'remote-mcp'].map(
    (service): Requirement => ({
      id: `additions.${service}.BUS_CA_PATH`,
      says: 'Whom to trust as bus',
      shown: [`${natsTest}: over TLS, whose authority must be known`],
    }),
  ),
  ...['GRPC_URL', 'CA_PATH', 'USER', 'PASSWORD', 'TOKEN'].map(
    (name): Requirement => ({
      id: `additions.backend.PRIVATE_GRAPHDB_${name}`,
      says: 'How the graph database is reached',
      shown: [`stack/parts/environment.test.ts: an external bus gets the settings of svc.yaml and nothing more`],
    }),
  ),
  ...['backend', 'frontend', 'runtime', 'remote-mcp'].map(
    (service): Requirement => ({ id: `additions.${service}.METRICS_PORT`, says: 'Telemetry', shown: telemetry }),
  ),
];
