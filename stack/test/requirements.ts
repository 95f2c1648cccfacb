/**
 * Every table row, numbered rule and variable of the specification's parts 1 to 9, and every variable of our own, with the tests that show it,
 * or the words "later: …" with what it waits for. requirements.test.ts fails where a row has neither, or names a test that is not there.
 */
export interface Requirement {
  /** Part and place in the specification; `additions` are the architecture's, section 11. */
  readonly id: string;
  readonly says: string;
  /** `file: title` of tests, or `later: …`. For a variable the test changes it and observes the running service. */
  readonly shown: readonly string[] | `later: ${string}`;
}

const wholePath = 'stack/test/whole-path.test.ts';
const keysAndErrors = 'stack/test/keys-and-errors.test.ts';
const agentIsolation = 'services/remote-mcp/test/isolation.test.ts';
const variablesTest = 'stack/test/variables.test.ts';
const agentKeys = 'services/remote-mcp/test/keys.test.ts';
const agentSkills = 'services/remote-mcp/test/skills.test.ts';
const agentSessions = 'services/remote-mcp/test/sessions.test.ts';
const agentCalls = 'services/remote-mcp/test/calls.test.ts';
const transport = 'services/remote-mcp/test/transport.test.ts';
const backendKeys = 'services/backend/keys/keys.test.ts';
const backendStatus = 'services/backend/test/status.test.ts';
const backendServer = 'services/backend/test/server.test.ts';
const boot = 'services/backend/test/boot.test.ts';
const admission = 'services/backend/runtimes/admission.test.ts';
const runtimeBus = 'services/runtime/test/bus.test.ts';
const runtimeCalls = 'services/runtime/test/calls.test.ts';
const commands = 'services/backend/test/commands.test.ts';
const secrets = 'services/backend/secrets/secrets.test.ts';
const envCheck = 'services/contracts/env/check.test.ts';
const frontend = 'services/frontend/frontend.test.ts';
const keyText = 'services/contracts/keys.test.ts';

const webApplication = 'later: comes with the web application';
const authorizationServer = 'later: comes with the authorization server';
const integrations = 'later: comes with integrations';
const mail = 'later: comes with invitations, the first thing that sends mail';
const files = 'later: comes with files';
const nats = 'later: comes with NATS as the bus';
const dgraph = 'later: comes with Dgraph as the graph';
const telemetry = 'later: comes with metrics and traces';

export const requirements: readonly Requirement[] = [
  // 1. What the service does
  {
    id: '1.backend',
    says: 'Backend: GraphQL, JWTs by Ed25519, encrypted secrets',
    shown: [`${backendServer}: publishes the keys that verify tokens`, `${backendServer}: an operator`],
  },
  {
    id: '1.frontend',
    says: 'Frontend: derives its URLs from the backend URL',
    shown: [`${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`],
  },
  {
    id: '1.remote-mcp',
    says: 'Remote MCP server: terminates agent HTTP, holds sessions, fans calls out',
    shown: [`${agentCalls}: reaches its MCP server under the name that it knows, with who asks`],
  },
  {
    id: '1.runtime',
    says: 'Runtime: executes MCP servers and routes tool calls',
    shown: [`${runtimeCalls}: two MCP servers with tools of the same name never meet`],
  },
  { id: '1.graph', says: 'Graph database: at least one coordination node and one data node', shown: dgraph },
  {
    id: '1.bus',
    says: 'Message bus connects backend, remote MCP server and runtimes',
    shown: ['services/kit/bus/bus.contract.ts: requests'],
  },
  {
    id: '1.manage-servers',
    says: 'Managing MCP servers, with status and health',
    shown: [`${backendStatus}: that one has so is Connected, with its tools`],
  },
  { id: '1.manage-integrations', says: 'Managing OAuth integrations', shown: integrations },
  { id: '1.manage-keys', says: 'Managing user API keys', shown: [`${backendKeys}: creating a key`] },
  { id: '1.browse-skills', says: 'Browsing skills', shown: webApplication },
  { id: '1.palette', says: 'A command palette', shown: webApplication },
  {
    id: '1.runtimes',
    says: 'A cloud runtime, and runtimes that customers deploy',
    shown: [`${admission}: lets one runtime of one workspace in`],
  },

  // 2. Resources
  {
    id: '2.workspace',
    says: 'Keys and sessions belong to exactly one workspace',
    shown: [`${agentSessions}: of another key's session is refused with 404, also within the same workspace`],
  },
  {
    id: '2.role',
    says: 'A role must be active for its skills to be visible',
    shown: [
      `${agentSkills}: a role that is not active hides its skills and refuses their tools, until it is activated`,
    ],
  },
  {
    id: '2.skill',
    says: 'A skill must be in a role to be usable, and is addressed by id',
    shown: [`${agentSkills}: skillIds discloses those skills to that session only`],
  },
  {
    id: '2.mcp-server',
    says: 'Has a configuration, stored encrypted',
    shown: ['services/backend/test/changes.test.ts: keep their launch secret, and record names only'],
  },
  { id: '2.integration', says: 'An OAuth connection to an external service', shown: integrations },
  {
    id: '2.key',
    says: 'Name, expiration date, Expired label, Bearer token',
    shown: [`${backendKeys}: a key is good until the moment it expires`],
  },
  {
    id: '2.runtime-identity',
    says: 'A runtime key, or a system key plus a name; sends heartbeats',
    shown: [
      `${admission}: of a runtime lets the platform's runtime of that name in, made at its first sight and the same ever after`,
      `${runtimeBus}: a runtime says that it lives every HEARTBEAT_INTERVAL`,
    ],
  },
  {
    id: '2.remote-mcp-identity',
    says: 'A system key; no runtime record',
    shown: [`${admission}: of remote-mcp lets remote-mcp in`],
  },
  {
    id: '2.session',
    says: 'Carries a workspace, ends when idle, may be preloaded',
    shown: [`${agentSessions}: ends a session that is idle for longer, and not one that is used or has a stream open`],
  },
  {
    id: '2.usage',
    says: 'A last-used timestamp per key, throttled',
    shown: [`${backendKeys}: is rewritten at most once in a period`],
  },

  // 3. States
  {
    id: '3.server-status',
    says: 'Connected, Disconnected, Error',
    shown: ['services/backend/servers/status.test.ts: Connected'],
  },
  {
    id: '3.server-health',
    says: 'green, yellow, red',
    shown: [`${runtimeCalls}: lines that are no messages are passed over; many of them show as degraded`],
  },
  {
    id: '3.key',
    says: 'Expired past its date, otherwise valid',
    shown: [`${backendKeys}: a key is good until the moment it expires`],
  },
  {
    id: '3.cloud-runtime',
    says: 'available, unavailable',
    shown: ['services/backend/runtimes/processes.test.ts: a runtime is available while one of its processes is heard'],
  },
  {
    id: '3.rule-1',
    says: "A skill's tools are available only while every MCP server it references is Connected",
    shown: [
      `${backendStatus}: are available only while every MCP server it refers to is Connected`,
      `${agentSkills}: takes the tools of all skills that reference`,
    ],
  },
  {
    id: '3.rule-2',
    says: 'An expired or invalid key is answered with 401',
    shown: [`${agentKeys}: an expired key, also when it was just in use`],
  },

  // 4. Endpoints
  {
    id: '4.health',
    says: 'GET /health of remote-mcp: 200 whatever Authorization says',
    shown: [`${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`],
  },
  {
    id: '4.runtime-health',
    says: 'GET /health on REMOTE_PORT of the runtime',
    shown: ['services/kit/http/health.test.ts: /health'],
  },
  { id: '4.ready', says: 'GET /ready on runtime and remote-mcp', shown: ['services/kit/http/health.test.ts: /ready'] },
  {
    id: '4.mcp',
    says: 'POST /mcp: JSON-RPC, ping, any answer but 401 means a valid key',
    shown: [`${agentKeys}: a ping with a good key is answered, without a session`],
  },
  { id: '4.oauth-callback', says: 'The redirect URI of external OAuth providers', shown: integrations },
  {
    id: '4.remote-port',
    says: 'remote-mcp listens on REMOTE_PORT',
    shown: [`${variablesTest}: remote-mcp REMOTE_PORT`],
  },
  { id: '4.oauth-metadata', says: 'remote-mcp serves the OAuth metadata', shown: authorizationServer },
  {
    id: '4.preloading',
    says: 'skillIds and roleIds disclose to that connection only',
    shown: [
      `${agentSkills}: skillIds discloses those skills to that session only`,
      `${agentSkills}: roleIds discloses their skills`,
    ],
  },

  // 5. Authentication
  { id: '5.rule-1', says: 'Bearer; a header without the word is wrong', shown: [`${keysAndErrors}: Bearer`] },
  {
    id: '5.rule-2',
    says: 'SVA_ current, USK older and valid',
    shown: [`${backendKeys}: keys of older installations are accepted`],
  },
  { id: '5.rule-3', says: 'WSK_ rejected everywhere', shown: [`${keysAndErrors}: WSK_`] },
  {
    id: '5.rule-4',
    says: 'No accepted prefix: invalid',
    shown: [`${keyText}: what is no key is refused from its text alone:`],
  },
  {
    id: '5.rule-5',
    says: 'A key belongs to one workspace',
    shown: [`${agentIsolation}: ids of the other workspace are refused like ids that are nowhere`],
  },
  {
    id: '5.rule-6',
    says: 'Past its expiration: Expired, 401',
    shown: [`${agentKeys}: an expired key, also when it was just in use`],
  },
  { id: '5.rule-7', says: 'Keys are created under Profile > API Keys', shown: webApplication },
  {
    id: '5.rule-8',
    says: '/health cannot test a key; ping on /mcp does',
    shown: [`${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`],
  },
  {
    id: '5.jwt',
    says: 'Signed by Ed25519, verified with the public key',
    shown: ['services/backend/tokens/verify-token.test.ts: a token signed with the previous key'],
  },
  {
    id: '5.jwt-issuer',
    says: 'The issuer claim is JWT_ISSUER',
    shown: [`${boot}: JWT_ISSUER decides whose tokens are good`],
  },
  { id: '5.jwt-lifetimes', says: 'Lifetimes of access and refresh tokens', shown: authorizationServer },
  { id: '5.oauth-server', says: 'The backend is an OAuth authorization server', shown: authorizationServer },
  {
    id: '5.runtime',
    says: 'Exactly one form of identity; USER_KEY and MCP_REMOTE_ENABLED are rejected',
    shown: [`${envCheck}: the identity of a runtime`, `${envCheck}: variables that are no more`],
  },
  { id: '5.remote-mcp', says: 'SYSTEM_KEY only', shown: [`${envCheck}: variables that are no more`] },
  {
    id: '5.encryption',
    says: 'ENCRYPTION_KEY: 64 hex characters; not the development one in production',
    shown: [`${envCheck}: of development is refused in production and nowhere else`],
  },
  {
    id: '5.origins',
    says: 'Allowed origins, DNS rebinding, CORS_ORIGINS',
    shown: [
      `${transport}: without a list every origin is refused, and requests without one are not`,
      `${backendServer}: any other may not`,
    ],
  },
  { id: '5.tls', says: 'TLS is advised for bus and graph', shown: nats },
  { id: '5.integrations', says: 'Scopes, exact redirect URI, Reconnect', shown: integrations },

  // 6. Events
  {
    id: '6.heartbeat',
    says: 'A heartbeat every HEARTBEAT_INTERVAL',
    shown: [`${runtimeBus}: a runtime says that it lives every HEARTBEAT_INTERVAL`],
  },
  { id: '6.mail', says: 'Outbound e-mail through the configured provider', shown: mail },

  // 7. Errors
  { id: '7.key', says: 'Missing, invalid or expired key: 401', shown: [`${keysAndErrors}: 401`] },
  {
    id: '7.forbidden',
    says: '403 on agent connection',
    shown: [`${agentKeys}: a suspended workspace, at once and until it is not suspended any more`],
  },
  { id: '7.bearer', says: 'No Bearer word: 401', shown: [`${keysAndErrors}: Bearer`] },
  { id: '7.redirect', says: 'Redirect URI differs', shown: integrations },
  { id: '7.oauth-token', says: 'Expired OAuth token', shown: integrations },
  {
    id: '7.runtime-rejected',
    says: 'USER_KEY or MCP_REMOTE_ENABLED: rejected at boot',
    shown: [`${variablesTest}: runtime USER_KEY`],
  },
  {
    id: '7.remote-mcp-rejected',
    says: 'RUNTIME_KEY or RUNTIME_NAME: rejected at boot',
    shown: [`${variablesTest}: remote-mcp RUNTIME_KEY`],
  },
  {
    id: '7.runtime-identity',
    says: 'Neither RUNTIME_KEY nor SYSTEM_KEY plus RUNTIME_NAME',
    shown: [`${envCheck}: the identity of a runtime`],
  },
  {
    id: '7.encryption-key',
    says: 'No ENCRYPTION_KEY: required variable missing',
    shown: [`${boot}: with what is wrong, all of it at once`],
  },
  {
    id: '7.disconnected',
    says: 'Tools of a Disconnected MCP server: unavailable',
    shown: [`${agentSkills}: list_skills`],
  },
  {
    id: '7.origin',
    says: 'Origin not allowed: refused',
    shown: [`${transport}: without a list every origin is refused, and requests without one are not`],
  },

  // 8. Limits and variables
  { id: '8.file-access', says: 'File access is limited to SVC_ALLOWED_PATHS', shown: files },
  { id: '8.backend.PORT', says: 'HTTP port', shown: [`${variablesTest}: backend PORT`] },
  {
    id: '8.backend.PRIVATE_GRAPHDB_URL',
    says: 'Graph endpoint',
    shown: [`${variablesTest}: backend PRIVATE_GRAPHDB_URL`],
  },
  { id: '8.backend.BUS_SERVERS', says: 'Bus address', shown: [`${boot}: on a bus that is not there`] },
  {
    id: '8.backend.PUBLIC_BUS_SERVERS',
    says: 'Bus list advertised to external runtimes',
    shown: [`${variablesTest}: backend PUBLIC_BUS_SERVERS`],
  },
  {
    id: '8.backend.ENCRYPTION_KEY',
    says: 'Secret-encryption key',
    shown: [`${boot}: with an encryption key that its records are not encrypted with`],
  },
  { id: '8.backend.JWT_PRIVATE_KEY_PATH', says: 'Private key', shown: [`${boot}: without its signing keys`] },
  { id: '8.backend.JWT_PUBLIC_KEY_PATH', says: 'Public key', shown: [`${boot}: without its signing keys`] },
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
    shown: 'later: comes with the first thing the backend asks of remote-mcp',
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
    shown: [`${frontend}: without it the build-time value holds`],
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
  { id: '8.runtime.BUS_SERVERS', says: 'Bus address', shown: nats },
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
    shown: [`${runtimeBus}: a runtime says that it lives every HEARTBEAT_INTERVAL`],
  },
  {
    id: '8.runtime.PRIVATE_MCP_URL',
    says: 'Address that the delegate tool dials',
    shown: 'later: comes with the delegate tool',
  },
  { id: '8.runtime.SVC_WORKING_DIR', says: 'Working directory', shown: [`${variablesTest}: runtime SVC_WORKING_DIR`] },
  ...[
    'SVC_ALLOWED_PATHS',
    'SVC_MAX_FILE_SIZE_MB',
    'SVC_GC_INTERVAL_MS',
    'SVC_GC_MAX_AGE_MS',
    'SVC_ASSET_CACHE_MAX_AGE_MS',
  ].map((name): Requirement => ({ id: `8.runtime.${name}`, says: 'Files and their limits', shown: files })),
  {
    id: '8.remote-mcp.SYSTEM_KEY',
    says: 'Only accepted credential',
    shown: [`${variablesTest}: remote-mcp SYSTEM_KEY`],
  },
  { id: '8.remote-mcp.BUS_SERVERS', says: 'Bus address', shown: nats },
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
    shown: [`${transport}: one that is listed may ask, and may read what matters`],
  },
  {
    id: '8.remote-mcp.SVC_PREVENT_DNS_REBINDING',
    says: 'Origin validation',
    shown: [`${transport}: with SVC_PREVENT_DNS_REBINDING=false no origin is refused`],
  },
  {
    id: '8.remote-mcp.SVC_SESSION_IDLE_TIMEOUT_MS',
    says: 'Idle sessions end',
    shown: [`${agentSessions}: ends a session that is idle for longer, and not one that is used or has a stream open`],
  },
  { id: '8.infrastructure.GRAPHDB_HTTP_PORT', says: '8080', shown: dgraph },
  { id: '8.infrastructure.GRAPHDB_GRPC_PORT', says: '9080', shown: dgraph },
  { id: '8.infrastructure.GRAPHDB_ZERO_PORT', says: '5080', shown: dgraph },
  { id: '8.infrastructure.BUS_PORT', says: '4222', shown: nats },
  { id: '8.infrastructure.BUS_HTTP_PORT', says: '8222', shown: nats },
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
      `${secrets}: the previous key still decrypts, the present one encrypts`,
    ],
  },
  {
    id: 'additions.backend.JWT_PREVIOUS_PUBLIC_KEY_PATH',
    says: 'The signing key before the present one',
    shown: [`${boot}: JWT_PREVIOUS_PUBLIC_KEY_PATH lets tokens of the key before live on`],
  },
  {
    id: 'additions.backend.MCP_SERVER_COMMANDS',
    says: 'Which commands MCP servers may run',
    shown: [
      `${commands}: none: nobody runs a command`,
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
  { id: 'additions.backend.FILES_DIR', says: 'Folder of stored files', shown: files },
  ...['PROVIDER_A_URL', 'PROVIDER_B_URL', 'SMTP_HOST', 'SMTP_PORT', 'SMTP_TLS', 'SMTP_USER', 'SMTP_PASSWORD'].map(
    (name): Requirement => ({ id: `additions.backend.${name}`, says: 'Mail', shown: mail }),
  ),
  ...['BUS_USER', 'BUS_PASSWORD', 'BUS_SYSTEM_USER', 'BUS_SYSTEM_PASSWORD'].map(
    (name): Requirement => ({ id: `additions.backend.${name}`, says: 'Credentials for the bus', shown: nats }),
  ),
  ...['backend', 'runtime', 'remote-mcp'].map(
    (service): Requirement => ({ id: `additions.${service}.BUS_CA_PATH`, says: 'Whom to trust as bus', shown: nats }),
  ),
  ...['GRPC_URL', 'CA_PATH', 'USER', 'PASSWORD', 'TOKEN'].map(
    (name): Requirement => ({
      id: `additions.backend.PRIVATE_GRAPHDB_${name}`,
      says: 'How the graph database is reached',
      shown: dgraph,
    }),
  ),
  ...['backend', 'frontend', 'runtime', 'remote-mcp'].flatMap((service) =>
    [
      'METRICS_PORT',
      'OTEL_SDK_DISABLED',
      'OTEL_SERVICE_NAME',
      'OTEL_RESOURCE_ATTRIBUTES',
      'OTEL_TRACES_EXPORTER',
      'OTEL_METRICS_EXPORTER',
      'OTEL_LOGS_EXPORTER',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TIMEOUT',
      'OTEL_EXPORTER_OTLP_COMPRESSION',
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
    ].map((name): Requirement => ({ id: `additions.${service}.${name}`, says: 'Telemetry', shown: telemetry })),
  ),

  // 9. Versioning
  {
    id: '9.prefixes',
    says: 'SVA_, USK, and WSK_ no longer',
    shown: [`${keysAndErrors}: WSK_`, `${backendKeys}: keys of older installations are accepted`],
  },
  {
    id: '9.modes',
    says: 'USER_KEY and MCP_REMOTE_ENABLED rejected; SKILL_IDS and ROLE_IDS not read',
    shown: [`${envCheck}: variables that are no more`, `${variablesTest}: runtime SKILL_IDS`],
  },
  {
    id: '9.separate',
    says: 'The public endpoint is a service of its own',
    shown: [`${wholePath}: sees the constant tools, finds a skill, loads it and calls its tools`],
  },
];
