import { type DeadlineRange, deadlineRanges } from '../mcp-server-deadlines.ts';
import { formerNone, formerNoneIsAuto, sandboxes } from '../sandbox.ts';
import { telemetryAwaits } from './telemetry.ts';
import {
  addressBlocks,
  addresses,
  boolean,
  busServers,
  choice,
  graphAddress,
  integer,
  issuer,
  levels,
  logLevels,
  origins,
  paths,
  port,
  secret,
  text,
  url,
} from './variable.ts';

const year = 365 * 24 * 60 * 60;
const dayMs = 24 * 60 * 60 * 1000;
const keyRule = (prefix: string) => `a key that starts with ${prefix}`;

const logLevel = choice({ meaning: 'Verbosity of the log.', default: 'info', choices: logLevels });
const logLevelRules = levels({
  meaning: 'Levels by logger name: <pattern>=<level>, comma-separated; * stands for any text.',
});
const bus = busServers({ meaning: 'Address of the message bus.', default: 'localhost:4222' });
const environment = choice({
  meaning: 'production refuses the development key and, once a public address is configured, internal names in it.',
  default: 'development',
  choices: ['development', 'production', 'test'],
  source: 'additions',
});
/** The features that will read a variable. */
const later = {
  files: { awaits: 'files of MCP servers' },
} as const;
const byProviderA = { EMAIL_PROVIDER: ['provider_a'] } as const;
const byProviderB = { EMAIL_PROVIDER: ['provider_b'] } as const;
const bySmtp = { EMAIL_PROVIDER: ['smtp'] } as const;
const fileSizeMax = integer({ meaning: 'Largest file, in MB.', default: '10', min: 1, max: 10_000 });
const busCa = text({
  meaning: "Path to the PEM file of the authority that signs the bus's certificate, when the bus uses TLS.",
  source: 'additions',
});
const busPersistent = boolean({
  meaning: 'Whether NATS keeps its streams on disk; false: in memory.',
  default: 'true',
  source: 'additions',
});
/** Key pairs of NATS, as `nk -gen` and the stack make them. */
const busSeed = (meaning: string, prefix: 'SU' | 'SA') =>
  secret({
    meaning,
    pattern: new RegExp(`^${prefix}[A-Z2-7]{56}$`),
    rule: `a seed of NATS that starts with ${prefix}`,
    source: 'additions',
  });
const password = { pattern: /^[\x20-\x7e]{1,512}$/, rule: 'a text of 1 to 512 visible characters' } as const;
const systemKey = secret({ meaning: 'System credential.', pattern: /^SYK_[0-9A-Za-z]{49}$/, rule: keyRule('SYK_') });
const bindHost = text({
  meaning: 'Address the service listens on.',
  default: '127.0.0.1',
  lengthMax: 255,
  source: 'additions',
});

const seconds = (meaning: string, { usual, min, max }: DeadlineRange) =>
  integer({ meaning, default: String(usual), min, max, source: 'additions' });
const startTimeout = seconds(
  'How long an MCP server may take from its start to its list of tools, in seconds, unless it has its own startTimeout.',
  deadlineRanges.startTimeout,
);
const callTimeout = seconds(
  'How long a tool call may be without an answer and without progress, in seconds, unless its MCP server has its own callTimeout.',
  deadlineRanges.callTimeout,
);

const metricsPort = port({
  meaning: 'Port of the metrics, on loopback only; unset: no metrics.',
  source: 'additions',
  awaits: telemetryAwaits,
});

/** Part 8 of the specification and the platform's additions, as data for services, stack, documentation and tests. */
export const variables = {
  backend: {
    PORT: port({ meaning: 'HTTP port.', default: '3000' }),
    PRIVATE_GRAPHDB_URL: graphAddress({
      meaning: 'Graph database endpoint, internal network.',
      default: 'localhost:8080',
    }),
    PRIVATE_GRAPHDB_GRPC_URL: addresses({
      meaning: "gRPC endpoints of Dgraph's data nodes; default: the host of PRIVATE_GRAPHDB_URL at its port + 1000.",
      source: 'additions',
    }),
    PRIVATE_GRAPHDB_CA_PATH: text({
      meaning: "Path to the PEM file of the authority that signs the graph database's certificate, when it uses TLS.",
      source: 'additions',
    }),
    PRIVATE_GRAPHDB_USER: text({
      meaning: 'User of the graph database.',
      lengthMax: 255,
      source: 'additions',
    }),
    PRIVATE_GRAPHDB_PASSWORD: secret({
      meaning: 'Password of PRIVATE_GRAPHDB_USER.',
      ...password,
      source: 'additions',
    }),
    PRIVATE_GRAPHDB_TOKEN: secret({
      meaning: 'Token for the administration of the graph database.',
      ...password,
      source: 'additions',
    }),
    BUS_SERVERS: bus,
    PUBLIC_BUS_SERVERS: busServers({ meaning: 'Bus addresses advertised to external runtimes.' }),
    BUS_CA_PATH: busCa,
    BUS_CALLOUT_SEED: busSeed("Seed of the bus's user that decides which clients may connect (auth callout).", 'SU'),
    BUS_SYSTEM_SEED: busSeed(
      "Seed of the user of the bus's system account, which lists connections and ends them.",
      'SU',
    ),
    BUS_ISSUER_SEED: busSeed('Seed of the account that signs admissions to the bus.', 'SA'),
    BUS_PERSISTENT_MESSAGING: busPersistent,
    ENCRYPTION_KEY: secret({
      meaning: 'Encrypts API keys, OAuth tokens and MCP server configurations.',
      pattern: /^[0-9a-fA-F]{64}$/,
      rule: 'a 64-character hex string (32 random bytes)',
      required: true,
    }),
    ENCRYPTION_KEY_PREVIOUS: secret({
      meaning: 'The previous encryption key, while records are re-encrypted.',
      pattern: /^[0-9a-fA-F]{64}$/,
      rule: 'a 64-character hex string (32 random bytes)',
      source: 'additions',
    }),
    JWT_PRIVATE_KEY_PATH: text({ meaning: 'Path to the Ed25519 private key (PEM, PKCS 8).', required: true }),
    JWT_PUBLIC_KEY_PATH: text({ meaning: 'Path to the Ed25519 public key (PEM, SPKI).', required: true }),
    JWT_PREVIOUS_PUBLIC_KEY_PATH: text({
      meaning: 'Path to the previous public key.',
      source: 'additions',
    }),
    JWT_ISSUER: text({ meaning: 'Issuer claim.', default: 'service-platform', lengthMax: 255 }),
    JWT_ACCESS_TOKEN_TTL: integer({
      meaning: 'Lifetime of an access token, in seconds.',
      default: '900',
      min: 1,
      max: year,
    }),
    JWT_REFRESH_TOKEN_TTL: integer({
      meaning: 'Lifetime of a refresh token, in seconds.',
      default: '604800',
      min: 1,
      max: year,
    }),
    IDENTITY_KEY_USAGE_THROTTLE_SECONDS: integer({
      meaning: 'Shortest time between two writes of a last-used timestamp, in seconds.',
      default: '60',
      min: 0,
      max: year,
    }),
    LOG_LEVEL: logLevel,
    CORS_ORIGINS: origins({
      meaning: 'Browser origins that may call the backend.',
      default: 'http://localhost:8888,http://localhost:3000',
    }),
    TRUSTED_PROXIES: addressBlocks({
      meaning: 'IP addresses and blocks of the proxies whose X-Forwarded-For names the client.',
      source: 'additions',
    }),
    SIGN_IN_PASSWORDS: boolean({
      meaning: 'Whether people may sign in by a password.',
      default: 'true',
      source: 'additions',
    }),
    SIGN_IN_PROVIDER_NAME: text({
      meaning: 'Name of the external OpenID provider on the sign-in page.',
      default: 'OpenID',
      lengthMax: 64,
      source: 'additions',
    }),
    SIGN_IN_PROVIDER_ISSUER: issuer({
      meaning: 'Issuer of the external OpenID provider by which people may sign in.',
      source: 'additions',
    }),
    SIGN_IN_PROVIDER_CLIENT_ID: text({
      meaning: 'Id of the platform at the provider.',
      lengthMax: 255,
      source: 'additions',
    }),
    SIGN_IN_PROVIDER_CLIENT_SECRET: secret({
      meaning: 'Secret of the platform at the provider.',
      ...password,
      source: 'additions',
    }),
    PRIVATE_MCP_URL: url({
      meaning: 'Address of remote-mcp in the internal network.',
      default: 'http://localhost:3001/mcp',
      awaits: 'the first request of the backend to remote-mcp',
    }),
    PUBLIC_BACKEND_URL: url({
      meaning: 'Externally reachable base URL of the backend: OAuth issuer, MCP server URLs, signed file URLs.',
      default: 'http://localhost:3000',
    }),
    PUBLIC_FRONTEND_URL: url({
      meaning: 'Public URL of the frontend: e-mail links, OAuth callbacks.',
      default: 'http://localhost:8888',
    }),
    PUBLIC_MCP_URL: url({
      meaning: 'Public URL of remote-mcp, the RFC 8707 resource identifier.',
      default: 'http://localhost:3001/mcp',
    }),
    EMAIL_PROVIDER: choice({
      meaning:
        'How mail is sent: to the log, with its one-time links, by provider A (EU), by provider B (US), or by a mail server of your own.',
      default: 'log',
      choices: ['log', 'provider_a', 'provider_b', 'smtp'],
    }),
    PROVIDER_A_API_KEY: secret({
      meaning: 'Key of mail provider A.',
      pattern: /^[\x21-\x7e]{1,512}$/,
      rule: 'a key of 1 to 512 visible characters',
      onlyWith: byProviderA,
    }),
    PROVIDER_B_API_KEY: secret({
      meaning: 'Key of mail provider B.',
      pattern: /^[\x21-\x7e]{1,512}$/,
      rule: 'a key of 1 to 512 visible characters',
      onlyWith: byProviderB,
    }),
    PROVIDER_A_URL: url({ meaning: 'Address of mail provider A.', source: 'additions', onlyWith: byProviderA }),
    PROVIDER_B_URL: url({ meaning: 'Address of mail provider B.', source: 'additions', onlyWith: byProviderB }),
    EMAIL_FROM: text({
      meaning: 'Sender address, for a provider other than log.',
      lengthMax: 320,
      onlyWith: { EMAIL_PROVIDER: ['provider_a', 'provider_b', 'smtp'] },
    }),
    EMAIL_FROM_NAME: text({
      meaning: 'Sender name.',
      default: 'The Service Team',
      lengthMax: 255,
      onlyWith: { EMAIL_PROVIDER: ['provider_a', 'smtp'] },
    }),
    PROVIDER_A_TIMEOUT_SECONDS: integer({
      meaning: 'Deadline of a request to mail provider A.',
      default: '10',
      min: 1,
      max: 600,
      onlyWith: byProviderA,
    }),
    SMTP_HOST: text({ meaning: 'Mail server of your own.', lengthMax: 255, source: 'additions', onlyWith: bySmtp }),
    SMTP_PORT: port({ meaning: "The mail server's port.", default: '587', source: 'additions', onlyWith: bySmtp }),
    SMTP_TLS: choice({
      meaning: 'Encryption of the connection to the mail server: after it opens, from the start, or none.',
      default: 'starttls',
      choices: ['starttls', 'implicit', 'none'],
      source: 'additions',
      onlyWith: bySmtp,
    }),
    SMTP_CA_PATH: text({
      meaning: "Path to the PEM file of the authority that signs the mail server's certificate; unset: the system's.",
      source: 'additions',
      onlyWith: bySmtp,
    }),
    SMTP_USER: text({ meaning: 'User of the mail server.', lengthMax: 320, source: 'additions', onlyWith: bySmtp }),
    SMTP_PASSWORD: secret({ meaning: 'Password of SMTP_USER.', ...password, source: 'additions', onlyWith: bySmtp }),
    FILES_DIR: text({
      meaning: 'Folder for files; unset: files are kept on the bus, for all backends that share it.',
      source: 'additions',
    }),
    SVC_MAX_FILE_SIZE_MB: { ...fileSizeMax, source: 'additions' as const },
    INSTALLATION_DIR: text({
      meaning:
        'Folder of the installation: a working directory of an MCP server there moves with it; unset: none does.',
      source: 'additions',
    }),
    HISTORY_DAYS: integer({
      meaning: 'How many days activity and usage are kept.',
      default: '365',
      min: 1,
      max: 36_500,
      source: 'additions',
    }),
    MCP_SERVER_COMMANDS: text({
      meaning: 'Which commands MCP servers may run: any, none, or a comma-separated list of command names.',
      default: 'any',
      lengthMax: 4096,
      source: 'additions',
    }),
    MCP_SERVER_ALLOWED_ADDRESSES: addressBlocks({
      meaning:
        'IP addresses and blocks that requests for integrations may reach besides public addresses: MCP servers and their authorization servers.',
      source: 'additions',
    }),
    BIND_HOST: bindHost,
    NODE_ENV: environment,
    METRICS_PORT: metricsPort,
  },
  frontend: {
    BUILD_PUBLIC_BACKEND_URL: url({
      meaning: 'Base URL of the backend, at build time.',
      default: 'http://localhost:3000',
    }),
    PUBLIC_BACKEND_URL: url({ meaning: 'Base URL of the backend at run time; overrides the build-time value.' }),
    PUBLIC_MCP_URL: url({
      meaning: 'Address that agents connect to, shown on the page.',
      default: 'http://localhost:3001/mcp',
      source: 'additions',
    }),
    PUBLIC_MCP_KEYS_URL: url({
      meaning: 'Address that agents with an API key connect to, shown on the page; unset: PUBLIC_MCP_URL.',
      source: 'additions',
    }),
    PORT: port({ meaning: 'HTTP port.', default: '8888', source: 'additions' }),
    LOG_LEVEL: { ...logLevel, source: 'additions' as const },
    BIND_HOST: bindHost,
    NODE_ENV: environment,
    METRICS_PORT: metricsPort,
  },
  runtime: {
    RUNTIME_KEY: secret({
      meaning: 'Credential of one runtime, instead of SYSTEM_KEY with RUNTIME_NAME.',
      pattern: /^RTK_[0-9A-Za-z]{49}$/,
      rule: keyRule('RTK_'),
    }),
    SYSTEM_KEY: systemKey,
    RUNTIME_NAME: text({ meaning: 'Name of the runtime, required with SYSTEM_KEY.', lengthMax: 64 }),
    BUS_SERVERS: bus,
    BUS_CA_PATH: busCa,
    REMOTE_PORT: port({ meaning: 'Port of the web service with /health and /ready; unset: no web service.' }),
    LOG_LEVEL: logLevel,
    LOG_LEVELS: logLevelRules,
    FORWARD_STDERR: boolean({ meaning: "Forward MCP servers' stderr to the runtime's log.", default: 'false' }),
    HEARTBEAT_INTERVAL: integer({ meaning: 'Milliseconds between heartbeats.', default: '5000', min: 50, max: 60_000 }),
    PRIVATE_MCP_URL: url({
      meaning: 'Address of remote-mcp in the internal network; unset: the address that the backend advertises.',
      awaits: 'the delegate tool',
    }),
    SVC_WORKING_DIR: text({
      meaning: 'Folder for temporary files, assets and the homes of MCP servers.',
      default: '/tmp/skilder-work',
    }),
    SVC_ALLOWED_PATHS: paths({
      meaning: 'Paths that sandboxed MCP servers may read, colon-separated.',
      onlyWith: { MCP_SERVER_SANDBOX: ['auto', 'bwrap', 'container'] },
    }),
    MCP_SERVER_SANDBOX: choice({
      meaning:
        'How MCP servers that are child processes are confined: those that members set, by bubblewrap (auto); all, by bubblewrap or in containers; or none.',
      default: 'auto',
      choices: sandboxes,
      formerly: { [formerNone]: { as: 'auto', told: formerNoneIsAuto } },
      source: 'additions',
    }),
    MCP_SERVER_MEMBER_FOLDERS: paths({
      meaning: "Folders that may contain the working directories of members' MCP servers, colon-separated.",
      source: 'additions',
      onlyWith: { MCP_SERVER_SANDBOX: ['auto', 'bwrap', 'container'] },
    }),
    MCP_SERVER_HIDDEN_PATHS: paths({
      meaning: 'Paths hidden from every sandboxed MCP server, also below folders that it may read; colon-separated.',
      source: 'additions',
      onlyWith: { MCP_SERVER_SANDBOX: ['auto', 'bwrap', 'container'] },
    }),
    MCP_SERVER_DOCKER_SOCKET: text({
      meaning: 'Socket of the Docker that runs their containers.',
      default: '/var/run/docker.sock',
      source: 'additions',
      onlyWith: { MCP_SERVER_SANDBOX: ['container'] },
    }),
    MCP_SERVER_IMAGE: text({
      meaning: 'Image of their containers: one that this Docker has, with a shell and their programs.',
      lengthMax: 255,
      source: 'additions',
      onlyWith: { MCP_SERVER_SANDBOX: ['container'] },
    }),
    MCP_SERVER_MEMORY_MAX_MB: integer({
      meaning: 'The most memory for the container of one, in MB.',
      default: '1024',
      min: 64,
      max: 1_048_576,
      source: 'additions',
      onlyWith: { MCP_SERVER_SANDBOX: ['container'] },
    }),
    MCP_SERVER_START_TIMEOUT_SECONDS: startTimeout,
    MCP_SERVER_CALL_TIMEOUT_SECONDS: callTimeout,
    MCP_SERVER_ALLOWED_ADDRESSES: addressBlocks({
      meaning: 'IP addresses and blocks that URLs of members may reach besides public addresses.',
      source: 'additions',
    }),
    SVC_MAX_FILE_SIZE_MB: { ...fileSizeMax, ...later.files },
    SVC_GC_INTERVAL_MS: integer({
      meaning: 'Time between clean-ups of temporary files.',
      default: '60000',
      min: 100,
      max: dayMs,
      ...later.files,
    }),
    SVC_GC_MAX_AGE_MS: integer({
      meaning: 'Age after which a temporary file is removed.',
      default: '300000',
      min: 100,
      max: 365 * dayMs,
      ...later.files,
    }),
    SVC_ASSET_CACHE_MAX_AGE_MS: integer({
      meaning: 'Lifetime of a cached asset.',
      default: '3600000',
      min: 100,
      max: 365 * dayMs,
      ...later.files,
    }),
    BIND_HOST: bindHost,
    NODE_ENV: environment,
    METRICS_PORT: metricsPort,
  },
  'remote-mcp': {
    SYSTEM_KEY: { ...systemKey, required: true as const },
    BUS_SERVERS: bus,
    BUS_CA_PATH: busCa,
    BUS_PERSISTENT_MESSAGING: busPersistent,
    REMOTE_PORT: port({ meaning: 'Port of /mcp, /health, /ready and the OAuth metadata.', required: true }),
    PRIVATE_BACKEND_URL: url({
      meaning: 'Base URL of the backend for catalogue pulls and uploads; unset: the one advertised at handshake.',
    }),
    PUBLIC_MCP_URL: url({
      meaning: 'Own public URL, the RFC 8707 resource identifier.',
      default: 'http://localhost:3001/mcp',
    }),
    PUBLIC_MCP_KEYS_URL: url({
      meaning: 'Own public URL for API keys alone, without OAuth metadata; unset: there is none.',
      source: 'additions',
    }),
    PUBLIC_BACKEND_URL: url({
      meaning: 'Public base URL of the authorization server.',
      default: 'http://localhost:3000',
    }),
    LOG_LEVEL: logLevel,
    LOG_LEVELS: logLevelRules,
    SVC_ALLOWED_ORIGINS: origins({ meaning: 'Allowed origins of the HTTP transport.' }),
    SVC_PREVENT_DNS_REBINDING: boolean({ meaning: 'Origin validation against DNS rebinding.', default: 'true' }),
    MCP_SERVER_CALL_TIMEOUT_SECONDS: callTimeout,
    SVC_SESSION_IDLE_TIMEOUT_MS: integer({
      meaning: 'Idle time after which a session is removed.',
      default: '300000',
      min: 100,
      max: 30 * dayMs,
    }),
    BIND_HOST: bindHost,
    NODE_ENV: environment,
    METRICS_PORT: metricsPort,
  },
} as const;

export type ServiceName = keyof typeof variables;

/** Ports and modes of the infrastructure that the stack runs (part 8, "Infrastructure"). */
export const infrastructure = {
  GRAPHDB_HTTP_PORT: port({ meaning: 'Graph data node, HTTP.', default: '8080' }),
  GRAPHDB_GRPC_PORT: port({ meaning: 'Graph data node, gRPC.', default: '9080' }),
  GRAPHDB_ZERO_PORT: port({ meaning: 'Graph coordination node, gRPC.', default: '5080' }),
  BUS_PORT: port({ meaning: 'Message bus, clients.', default: '4222' }),
  BUS_HTTP_PORT: port({
    meaning: 'Message bus, monitoring, when bus.httpPort in svc.yaml opens it.',
    default: '8222',
  }),
  BUS_PERSISTENT_MESSAGING: boolean({ meaning: 'Persistent messaging on the bus.', default: 'true' }),
} as const;

/** Variables that stop the boot when set, with the repair. */
export const rejected: { readonly [Service in ServiceName]?: Readonly<Record<string, string>> } = {
  runtime: {
    USER_KEY:
      'The single-agent stdio mode no longer exists: unset USER_KEY and connect the agent to the /mcp address of remote-mcp.',
    MCP_REMOTE_ENABLED:
      'The fused mode no longer exists: unset MCP_REMOTE_ENABLED and run remote-mcp as a service of its own.',
  },
  'remote-mcp': {
    RUNTIME_KEY: 'remote-mcp is not a runtime: unset RUNTIME_KEY and set SYSTEM_KEY.',
    RUNTIME_NAME: 'remote-mcp has no runtime record: unset RUNTIME_NAME.',
  },
};

/** Variables that are no longer read: reported once in the log. */
export const ignored: Readonly<Record<string, string>> = {
  SKILL_IDS: 'SKILL_IDS is not read: preload with the skillIds query parameter of /mcp.',
  ROLE_IDS: 'ROLE_IDS is not read: preload with the roleIds query parameter of /mcp.',
};
