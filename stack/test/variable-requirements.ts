import type { Variable } from '../../services/contracts/env/variable.ts';
import { infrastructure, variables } from '../../services/contracts/env/variables.ts';

/**
 * The tests of a requirement: one or several `file: title`, or `later: …`. A test of a variable changes it and
 * observes the service.
 */
export type TestReferences = string | readonly string[];

/** Test files and reasons that rows of several tables name. */
export const variablesTest = 'stack/test/variables.test.ts';
export const wholePath = 'stack/test/whole-path.test.ts';
export const agentLifecycle = 'services/remote-mcp/test/lifecycle.test.ts';
export const runtimeSettings = 'services/runtime/test/settings.test.ts';
export const agentSessions = 'services/remote-mcp/test/sessions.test.ts';
export const transport = 'services/remote-mcp/test/transport.test.ts';
export const backendServer = 'services/backend/test/server.test.ts';
export const boot = 'services/backend/test/boot.test.ts';
export const runtimeBus = 'services/runtime/test/bus.test.ts';
const keysAddress = 'services/remote-mcp/test/keys-address.test.ts';
export const frontend = 'services/frontend/frontend.test.ts';

export const agentSignIn = 'services/remote-mcp/test/oauth.test.ts';
export const files = 'later: comes with files of MCP servers';

const parts = 'stack/parts/parts.test.ts';
const ownDgraph = `${parts}: own Dgraph are its two nodes too`;
const externalGraph = 'stack/parts/environment.test.ts: an external bus gets the settings of svc.yaml and nothing more';
const separate = 'stack/test/processes.test.ts: every part is a process of its own';
const natsTest = 'services/kit/bus/nats/server.test.ts';
const busAuthority = `${natsTest}: over TLS, whose authority must be known`;
const busSeed = `${natsTest}: a backend with another %s seed is refused`;
const persistent =
  'services/remote-mcp/test/persistent-messaging.test.ts: decides whether NATS keeps them on disk or in memory';
const provider = 'services/backend/test/provider.test.ts';
export const tokenLifetimes =
  'services/backend/test/accounts.test.ts: live as JWT_ACCESS_TOKEN_TTL and JWT_REFRESH_TOKEN_TTL say, after a link at PUBLIC_FRONTEND_URL';
const mailEngine = 'services/backend/mail/open-mail-engine.test.ts';
const ofProviderA = `${mailEngine}: PROVIDER_A_API_KEY, EMAIL_FROM and EMAIL_FROM_NAME at PROVIDER_A_URL`;
const ofProviderB = `${mailEngine}: PROVIDER_B_API_KEY and EMAIL_FROM without a name at PROVIDER_B_URL`;
const ofMailServer = `${mailEngine}: at SMTP_HOST and SMTP_PORT, with SMTP_TLS=%s, gets mail of SMTP_USER`;
const commands = 'services/backend/test/commands.test.ts';
const secrets = 'services/backend/secrets';
const sandbox = 'services/runtime/test/sandbox.test.ts';
const members = 'services/runtime/test/members.test.ts';
const contained = 'services/runtime/test/contained.test.ts';
const handshake = 'services/backend/runtimes/handshake.test.ts';
const envCheck = 'services/contracts/env/check.test.ts';
const hubStorage = 'services/kit/bus/inproc/storage.test.ts';
const addresses = `${handshake}: remote-mcp receives the addresses`;
const platformRuntime = `${wholePath}: an added MCP server is Connected, with the tools that it lists`;
const logLevels = `${runtimeSettings}: follows LOG_LEVEL and LOG_LEVELS`;

const all = { ...variables, infrastructure };
type ReferencesElsewhere = {
  readonly [Service in keyof typeof all]: Partial<Record<keyof (typeof all)[Service], TestReferences>>;
};

/** The tests of variables that variables.test.ts does not observe. */
const shownElsewhere: ReferencesElsewhere = {
  backend: {
    BUS_SERVERS: `${boot}: on a bus that does not exist`,
    ENCRYPTION_KEY: `${boot}: with an encryption key that differs from the one of its records`,
    ENCRYPTION_KEY_PREVIOUS: [
      `${secrets}/check-encryption-key.test.ts: a new key takes over from the previous one`,
      `${secrets}/secrets.test.ts: the previous key still decrypts, the current one encrypts`,
    ],
    JWT_PRIVATE_KEY_PATH: `${boot}: without its signing keys`,
    JWT_PUBLIC_KEY_PATH: `${boot}: with a public key that is missing or belongs to another private key`,
    JWT_PREVIOUS_PUBLIC_KEY_PATH: `${boot}: JWT_PREVIOUS_PUBLIC_KEY_PATH keeps tokens of the earlier key valid`,
    JWT_ISSUER: `${boot}: JWT_ISSUER decides whose tokens are good`,
    LOG_LEVEL: `${boot}: LOG_LEVEL decides what is logged`,
    CORS_ORIGINS: `${backendServer}: one that is listed may call`,
    BIND_HOST: `${boot}: BIND_HOST is where it listens`,
    TRUSTED_PROXIES:
      'services/backend/test/passwords.test.ts: are not avoided by another address of the same /64, nor by a forged one',
    SIGN_IN_PASSWORDS: `${provider}: passwords can be switched off`,
    SIGN_IN_PROVIDER_NAME: `${provider}: is offered by the sign-in page`,
    SIGN_IN_PROVIDER_ISSUER: `${provider}: finds the person by a verified address`,
    SIGN_IN_PROVIDER_CLIENT_ID: `${provider}: finds the person by a verified address`,
    SIGN_IN_PROVIDER_CLIENT_SECRET: `${provider}: finds the person by a verified address`,
    PUBLIC_FRONTEND_URL: tokenLifetimes,
    JWT_ACCESS_TOKEN_TTL: tokenLifetimes,
    JWT_REFRESH_TOKEN_TTL: tokenLifetimes,
    MCP_SERVER_COMMANDS: [
      `${commands}: none: MCP servers run no command, and no role changes that`,
      `${commands}: a list: these commands`,
      `${handshake}: leaves out a launch that is no longer allowed, with the reason`,
    ],
    MCP_SERVER_ALLOWED_ADDRESSES:
      'services/backend/test/integrations.test.ts: reaches no private address that the operator did not allow',
    EMAIL_PROVIDER: [
      `${mailEngine}: EMAIL_PROVIDER=log writes recipient, subject and link to the log`,
      ...[ofProviderA, ofProviderB, ofMailServer],
    ],
    PROVIDER_A_API_KEY: ofProviderA,
    PROVIDER_A_URL: ofProviderA,
    PROVIDER_A_TIMEOUT_SECONDS: `${mailEngine}: an attempt of PROVIDER_A_TIMEOUT_SECONDS`,
    PROVIDER_B_API_KEY: ofProviderB,
    PROVIDER_B_URL: ofProviderB,
    EMAIL_FROM: [ofProviderA, ofProviderB, ofMailServer],
    EMAIL_FROM_NAME: [ofProviderA, ofMailServer],
    SMTP_HOST: ofMailServer,
    SMTP_PORT: ofMailServer,
    SMTP_TLS: ofMailServer,
    SMTP_CA_PATH: [ofMailServer, `${mailEngine}: with an SMTP_CA_PATH that cannot be read stops the boot, by name`],
    SMTP_USER: ofMailServer,
    SMTP_PASSWORD: ofMailServer,
    FILES_DIR: [
      `${variablesTest}: backend FILES_DIR`,
      'services/backend/files/jetstream-blobs.test.ts: blobs in JetStream',
    ],
    INSTALLATION_DIR: [
      `services/backend/servers/launch.test.ts: a folder in the installation moves with it`,
      'cli/test/moved-folder.test.ts: an MCP server in the folder of the installation works where the folder is moved to',
    ],
    HISTORY_DAYS:
      'services/backend/collect-garbage.test.ts: activity and usage older than HISTORY_DAYS are removed in every workspace, and the rest stays',
    BUS_CALLOUT_SEED: busSeed,
    BUS_SYSTEM_SEED: busSeed,
    BUS_ISSUER_SEED: busSeed,
    BUS_PERSISTENT_MESSAGING: persistent,
    BUS_CA_PATH: busAuthority,
    NODE_ENV: `${envCheck}: of development is refused in production only`,
    PRIVATE_GRAPHDB_URL: [
      `${boot}: it keeps its data across a restart`,
      `${variablesTest}: backend PRIVATE_GRAPHDB_URL`,
    ],
    PUBLIC_BACKEND_URL: addresses,
    PUBLIC_BUS_SERVERS: 'services/backend/test/keys-and-runtimes.test.ts: of a workspace are registered, listed',
    PUBLIC_MCP_URL: addresses,
    SVC_MAX_FILE_SIZE_MB: 'services/backend/test/files.test.ts: larger than SVC_MAX_FILE_SIZE_MB',
    PRIVATE_GRAPHDB_GRPC_URL: externalGraph,
    PRIVATE_GRAPHDB_CA_PATH: externalGraph,
    PRIVATE_GRAPHDB_USER: externalGraph,
    PRIVATE_GRAPHDB_PASSWORD: externalGraph,
    PRIVATE_GRAPHDB_TOKEN: externalGraph,
  },
  frontend: {
    NODE_ENV: `${envCheck}: must all be public once one of them is`,
    BUILD_PUBLIC_BACKEND_URL: `${frontend}: without it the build-time value is used`,
    PUBLIC_BACKEND_URL: `${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`,
    PUBLIC_MCP_URL: `${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`,
    PUBLIC_MCP_KEYS_URL: `${frontend}: PUBLIC_MCP_KEYS_URL is told to the pages`,
  },
  runtime: {
    BUS_SERVERS: separate,
    BUS_CA_PATH: busAuthority,
    NODE_ENV: 'later: comes with the first rule of production that concerns runtimes',
    HEARTBEAT_INTERVAL: `${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`,
    RUNTIME_KEY: 'cli/test/runtime-elsewhere.test.ts: it needs only the output of register, serves agents',
    SYSTEM_KEY: platformRuntime,
    RUNTIME_NAME: platformRuntime,
    LOG_LEVEL: logLevels,
    LOG_LEVELS: logLevels,
    FORWARD_STDERR: `${runtimeSettings}: holds them with FORWARD_STDERR, under the name of the MCP server`,
    SVC_WORKING_DIR: `${runtimeSettings}: is created, for this user only`,
    SVC_ALLOWED_PATHS: `${sandbox}: reads allowed paths`,
    MCP_SERVER_SANDBOX: [
      `${sandbox}: everything of the platform, of other MCP servers and of the machine that is visible without a sandbox is hidden`,
      'services/runtime/test/sandboxed-lives.test.ts: the whole tree ends with the MCP server',
      `${members}: %s runs in a sandbox, and an operator`,
      `${members}: with none-for-everybody runs as an operator’s`,
    ],
    MCP_SERVER_MEMBER_FOLDERS: [
      `${members}: works only below folders that are named for members`,
      'services/runtime/test/never-mounted.test.ts: that %s is refused to operators and members',
    ],
    MCP_SERVER_ALLOWED_ADDRESSES: [
      "services/runtime/test/addresses.test.ts: the operator's list lets members reach an address",
      'stack/test/adversary/hostile-member.test.ts: is refused where an operator set the same URL before, and reached once the operator allows the address',
    ],
    MCP_SERVER_DOCKER_SOCKET: [
      `${contained}: a stopped Docker is explained and waited for`,
      `${contained}: because %s`,
    ],
    MCP_SERVER_IMAGE: [`${contained}: a missing image is named`, `${contained}: servers of packages work`],
    MCP_SERVER_MEMORY_MAX_MB: `${contained}: a command missing in the image, and too much memory, are explained`,
    MCP_SERVER_START_TIMEOUT_SECONDS: `${runtimeSettings}: MCP_SERVER_START_TIMEOUT_SECONDS ends a start`,
    MCP_SERVER_CALL_TIMEOUT_SECONDS:
      'services/runtime/supervisor/mcp-server-state.test.ts: the third missing answer in a row while %s',
    MCP_SERVER_HIDDEN_PATHS: `${sandbox}: an allowed path that contains the installation shows nothing of it`,
  },
  'remote-mcp': {
    BUS_SERVERS: separate,
    BUS_CA_PATH: busAuthority,
    BUS_PERSISTENT_MESSAGING: persistent,
    NODE_ENV: `${envCheck}: must not be names of the internal network`,
    SYSTEM_KEY: [
      `${agentLifecycle}: an unknown system key is reported at /ready`,
      `${agentLifecycle}: it does not start with a wrong %s, and says so`,
    ],
    PRIVATE_BACKEND_URL:
      'services/remote-mcp/test/calls.test.ts: reaches a call that waits for the first catalogue, which is then never made',
    PUBLIC_MCP_URL: `${agentSignIn}: a 401 names the metadata by an absolute address, and the scope`,
    PUBLIC_MCP_KEYS_URL: `${keysAddress}: shows no address of OAuth, to no method and at no place where clients look`,
    PUBLIC_BACKEND_URL: `${agentSignIn}: the metadata of the resource are at the path "%s", for pages of any origin`,
    SVC_ALLOWED_ORIGINS: `${transport}: a listed origin may call, and may read the headers that it needs`,
    SVC_PREVENT_DNS_REBINDING: `${transport}: with SVC_PREVENT_DNS_REBINDING=false no origin is refused`,
    MCP_SERVER_CALL_TIMEOUT_SECONDS:
      'services/remote-mcp/test/calls.test.ts: is abandoned after the deadline of its MCP server, or else of the platform',
    SVC_SESSION_IDLE_TIMEOUT_MS: `${agentSessions}: ends a session that is idle for longer, and none that is used or has an open stream`,
  },
  infrastructure: {
    BUS_PERSISTENT_MESSAGING: [
      `${hubStorage}: contains every acknowledged write, as a copy made at that moment shows`,
      `${hubStorage}: has no file when nothing is to be kept`,
    ],
    GRAPHDB_HTTP_PORT: ownDgraph,
    GRAPHDB_GRPC_PORT: ownDgraph,
    GRAPHDB_ZERO_PORT: ownDgraph,
    BUS_PORT: `${parts}: nats-server: its listen address and folder, and no secret`,
    BUS_HTTP_PORT: `${parts}: nats-server: its monitoring only when svc.yaml names a port, and then on this machine`,
  },
};

/** A later feature reads the variable, a test above observes it, or variables.test.ts does so under its name. */
export const variableRequirements: Readonly<Record<string, TestReferences>> = Object.fromEntries(
  Object.entries<Readonly<Record<string, Variable<unknown>>>>(all).flatMap(([service, table]) => {
    const others: Readonly<Record<string, TestReferences | undefined>> =
      shownElsewhere[service as keyof ReferencesElsewhere];
    return Object.entries(table).map(([name, { source, meaning, awaits }]): [string, TestReferences] => {
      const references = others[name] ?? `${variablesTest}: ${service} ${name}`;
      const part = source === 'specification' ? '8' : 'additions';
      return [
        `${part}.${service}.${name}: ${meaning}`,
        awaits === undefined ? references : `later: comes with ${awaits}`,
      ];
    });
  }),
);
