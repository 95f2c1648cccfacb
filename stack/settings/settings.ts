import { z } from 'zod';
import { parseAddressBlock } from '../../services/contracts/address-block.ts';
import { type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { formerNone, sandboxes } from '../../services/contracts/sandbox.ts';
import { engines, graphs, topologies } from './choices.ts';
import { extraVariables } from './extra-variables.ts';
import { busAddress, publicBus } from './public-bus.ts';
import {
  isHostName,
  like,
  likeText,
  listOf,
  matching,
  oneOf,
  optional,
  orAuto,
  textThat,
  trueOrFalse,
  wholeNumber,
} from './rules.ts';
import { group, setting, settingOf } from './setting.ts';

const { backend, 'remote-mcp': remoteMcp, runtime } = variables;

/** A service's address needs a known port, so "any" (0) is not allowed here. */
const port = orAuto(wholeNumber(1, 65_535));
const email = matching(/^[^\s@]{1,64}@[^\s@]{1,255}$/, 'an e-mail address');
const mailHost = matching(/^[0-9A-Za-z._:-]{1,255}$/, 'the name or address of a mail server, without its port');
const publicUrl = orAuto(like(backend.PUBLIC_BACKEND_URL));
const origin = textThat('an origin', (text) => URL.canParse(text) && new URL(text).origin === text);
const origins = listOf(origin, 'a list of origins such as [https://app.example.com], without a path');
const commandNames = listOf(matching(/^[^\s,]{1,255}$/, 'the name of a command'), 'a list of commands');
const absolutePath = matching(/^\/[^:]*$/, 'an absolute path without a colon');
const absolutePaths = listOf(absolutePath, 'a list of absolute paths');
const addressBlock = textThat('an IP address or a block', (text) => parseAddressBlock(text) !== null);
/** More than one machine can use. */
const replicas = wholeNumber(1, 16);
/** Nodes that decide by majority. */
const majority = wholeNumber(1, 3)
  .refine((count): count is 1 | 3 => count !== 2)
  .describe('1 or 3 (two would both be needed)');
const graphAddress = textThat(
  'an address such as https://dgraph.example.com:8080',
  (text) => /^https?:\/\/[^\s@/,]+:\d+$/.test(text) && URL.canParse(text),
);
const grpcAddress = matching(/^[^\s@/,]+:\d{1,5}$/, 'a host with its port');
const pemFile = optional(matching(/^.{1,4096}$/, 'the path of a PEM file'));
/** It becomes part of Caddy's configuration, where these characters have a meaning. */
const pemFileOfCaddy = optional(
  matching(/^[^"`\\{}\r\n]{1,4096}$/, 'the path of a PEM file, without quotes, braces and backslashes'),
);
const acmeDirectory = textThat(
  'an https address without quotes and braces',
  (text) => /^https:\/\/[^\s"`\\{}]{1,2000}$/.test(text) && URL.canParse(text),
);
const hostName = textThat('a name such as agents.example.com, in small letters', isHostName);
/** Tags like "latest" and "24" change their image. An exact version or a digest does not. */
const image = matching(
  /^(?=.{1,255}$)[a-z0-9][a-z0-9._/:-]*(:\w*\d+\.\d+[\w.-]*|@sha256:[0-9a-f]{64}|:[\w.-]+@sha256:[0-9a-f]{64})$/,
  'an image with an exact version, such as node:24.21.0-bookworm-slim, or with its digest',
);
/** In MB. With less, Node itself does not start. */
const memory = wholeNumber(64, 1_048_576);
const busAddresses = orAuto(
  z.array(busAddress).min(1).max(1000).readonly().describe('a list of addresses such as [nats://bus.example.com:4222]'),
);
/** A wrong value is shown, so a password is refused first: neither this file nor an error may contain it. */
const busServers = z
  .unknown()
  .refine((raw) => !JSON.stringify(raw)?.includes('@'), {
    error: 'It must hold addresses without user and password: services authenticate with their own keys.',
    abort: true,
  })
  .pipe(busAddresses)
  .describe(busAddresses.description ?? '');

const everyService = (name: string) => ({ backend: [name], 'remote-mcp': [name], runtime: [name], frontend: [name] });
const otherVariables = (service: ServiceName) =>
  setting(
    extraVariables(service, (variable) => placeOf(service, variable)),
    { default: {}, hasOwnMessages: true },
  );
const comma = (list: readonly string[]) => list.join(',');
const given = (text: string | undefined) => text ?? '';

/** Every setting of svc.yaml, in its order: meaning, rule, default, and the variables of services that it decides. */
export const settings = group(
  `svc.yaml: every choice of this installation, and no secret: it is safe in git.
A missing setting has the default shown here. \`svc config check\` reports mistakes with their places; \`svc up\` applies the file.`,
  {
    id: setting(matching(/^[a-z0-9]{8,32}$/, '8 to 32 small letters and digits'), {
      meaning: 'Random, made by `svc init`: distinguishes installations on one host. Keep it.',
      default: undefined,
    }),
    name: setting(
      matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, '1 to 63 letters, digits, dots, dashes or underscores'),
      { meaning: 'The name of this installation.', default: 'svc' },
    ),
    topology: setting(oneOf(...topologies), {
      meaning: `embedded: one process holds everything. distributed: one process or more for each service, connected by NATS.
\`svc move\` changes this and graph, and moves the data; a change by hand starts without the data.`,
      default: 'embedded',
    }),
    graph: setting(oneOf(...graphs), {
      meaning:
        'The database: sqlite, a file in data/, with the files of skills beside it in data/blobs. dgraph: a cluster (see `graphdb`), with the files of skills on the bus; it needs topology: distributed.',
      default: 'sqlite',
      variables: { backend: ['FILES_DIR'] },
    }),
    engine: setting(oneOf(...engines), {
      meaning:
        'How parts run: process, on this machine. docker: each in a container; it needs topology: distributed and a Docker on this machine.',
      default: 'process',
    }),
    images: group(
      'Images of containers, by exact versions. With engine: docker, `svc up` builds the image of the services on `base`, and uses the others unchanged; with runtime.sandbox: container, MCP servers run in `base`. It contains node and npm: name your own base here if MCP servers need other programs.',
      {
        base: setting(image, {
          default: 'node:24.21.0-bookworm-slim',
          variables: { runtime: ['MCP_SERVER_IMAGE'] },
        }),
        nats: setting(image, { default: 'nats:2.15.0-alpine' }),
        caddy: setting(image, { default: 'caddy:2.11.4-alpine' }),
        dgraph: setting(image, { default: 'dgraph/dgraph:v25.4.0' }),
      },
    ),
    owner: group('The owner of the workspace Default, which the first `svc up` creates.', {
      email: setting(email, { default: 'owner@localhost' }),
    }),
    bind: setting(matching(/^[0-9A-Za-z.:-]{1,255}$/, 'an address of this machine, such as 127.0.0.1 or 0.0.0.0'), {
      meaning:
        'The address that services listen on, or caddy in front of them. 127.0.0.1 is this machine only; 0.0.0.0 is every network of this machine.',
      default: '127.0.0.1',
      variables: everyService('BIND_HOST'),
    }),
    trustedProxies: setting(
      listOf(addressBlock, 'a list of IP addresses and blocks such as [192.168.1.20, 10.0.0.0/8], without host names'),
      {
        meaning:
          'IP addresses and blocks of your own proxies in front of the platform, such as [192.168.1.20, 10.0.0.0/8]. Limits of sign-ins count each client by the address that they write to X-Forwarded-For. Without them, all people behind a proxy count as one. The caddy of the platform proves itself.',
        default: [],
        variables: { backend: ['TRUSTED_PROXIES'] },
      },
    ),
    ports: group(
      'A number is exactly that port. auto is the port in the comment or, if another program uses it, the next free port; the chosen one is written to state/ports.json and kept.',
      {
        backend: setting(port, {
          default: 'auto',
          note: '3000',
          variables: { backend: ['PORT'], 'remote-mcp': ['PRIVATE_BACKEND_URL'] },
        }),
        'remote-mcp': setting(port, {
          default: 'auto',
          note: '3001',
          variables: { backend: ['PRIVATE_MCP_URL'], 'remote-mcp': ['REMOTE_PORT'], runtime: ['PRIVATE_MCP_URL'] },
        }),
        runtime: setting(port, { default: 'auto', note: '3003', variables: { runtime: ['REMOTE_PORT'] } }),
        frontend: setting(port, { default: 'auto', note: '8888', variables: { frontend: ['PORT'] } }),
      },
    ),
    replicas: group(
      'The number of processes of each service, any of which may die; more than 1 needs topology: distributed, and for the backend also graph: dgraph. Several backends, and several remote-mcps, share one address through caddy: found on PATH, or a container.',
      {
        backend: setting(replicas, { default: 1 }),
        'remote-mcp': setting(replicas, { default: 1 }),
        runtime: setting(replicas, { default: 1 }),
        nats: setting(majority, {
          meaning:
            "Nodes of the platform's own NATS: 1 or 3. Of three any one may die or lose its disk: each has all data. While another node takes over, access to stored data may take up to ten seconds; calls continue. The next `svc up` applies a changed number.",
          default: 1,
        }),
        'dgraph-zero': setting(majority, {
          meaning:
            "Nodes of the platform's own Dgraph. They can be added, not removed. Coordination nodes: 1 or 3, of which any one may die.",
          default: 1,
        }),
        'dgraph-alpha': setting(wholeNumber(1, 3), {
          meaning:
            'Data nodes, each with all data: 1, 2 or 3. With two, the loss of one loses no saved data; while it is away, reads work and changes are refused. With three any one may die, and everything continues within ten seconds.',
          default: 1,
        }),
      },
    ),
    public: group(
      'One host name for everything, through caddy as above: https://HOST is the web page, and agents connect to https://HOST/mcp. Internal paths are closed there. It needs topology: distributed. The services are then on loopback, and caddy listens on `bind`.',
      {
        host: setting(optional(hostName), {
          meaning:
            'A name such as agents.example.com that resolves to this machine. null: each service has its own address.',
          default: null,
        }),
        tls: setting(oneOf('none', 'files', 'acme'), {
          meaning:
            'files: with cert and key. acme: with a certificate that caddy gets and renews by itself. none: http, for another proxy in front that terminates TLS.',
          default: 'none',
        }),
        cert: setting(pemFileOfCaddy, {
          meaning:
            'PEM file for tls: files, relative to this folder, with its chain up to the authority. Run `svc up` after you renew it.',
          default: null,
        }),
        key: setting(pemFileOfCaddy, { meaning: 'PEM file with the private key of cert.', default: null }),
        acme: group('The authority that issues certificates, with tls: acme.', {
          email: setting(optional(email), {
            meaning: 'Your e-mail address for messages of the authority.',
            default: null,
          }),
          directory: setting(acmeDirectory, {
            meaning: 'The URL of its ACME directory.',
            default: 'https://acme-v02.api.letsencrypt.org/directory',
          }),
          ca: setting(pemFileOfCaddy, {
            meaning:
              "PEM file of the authority that signed the directory's own certificate, relative to this folder. null: the system's authorities.",
            default: null,
          }),
        }),
        httpsPort: setting(port, {
          meaning:
            'A number, or auto: that or the next free one. Browsers and acme use 443 and 80, unless another program forwards these.',
          default: 443,
        }),
        httpPort: setting(port, {
          meaning: 'Redirects to https; with tls: none it serves everything.',
          default: 80,
        }),
      },
    ),
    publicUrls: group(
      'Public addresses for people, browsers and agents. auto is http://localhost with the port above, or the address of `public`.',
      {
        backend: setting(publicUrl, {
          default: 'auto',
          note: 'http://localhost:3000',
          variables: {
            backend: ['PUBLIC_BACKEND_URL'],
            'remote-mcp': ['PUBLIC_BACKEND_URL'],
            frontend: ['BUILD_PUBLIC_BACKEND_URL', 'PUBLIC_BACKEND_URL'],
          },
        }),
        mcp: setting(publicUrl, {
          default: 'auto',
          note: 'http://localhost:3001/mcp',
          variables: {
            backend: ['PUBLIC_MCP_URL'],
            'remote-mcp': ['PUBLIC_MCP_URL'],
            frontend: ['PUBLIC_MCP_URL'],
          },
        }),
        keys: setting(optional(publicUrl), {
          meaning:
            'An address of /mcp for API keys alone, without OAuth: some clients, such as Cursor, ignore a configured key where they find OAuth. auto is 127.0.0.1 with the port of mcp; clients then use localhost for OAuth. With `public`, use a name of its own that resolves to this machine, such as https://keys.example.com/mcp. Keys work at mcp too. null: none.',
          default: null,
          variables: { 'remote-mcp': ['PUBLIC_MCP_KEYS_URL'], frontend: ['PUBLIC_MCP_KEYS_URL'] },
        }),
        frontend: setting(publicUrl, {
          default: 'auto',
          note: 'http://localhost:8888',
          variables: { backend: ['PUBLIC_FRONTEND_URL'] },
        }),
      },
    ),
    origins: group('Origins of web pages that may call the platform, such as https://app.example.com.', {
      browsers: setting(orAuto(origins), {
        meaning: 'For the backend. auto is the frontend and the backend themselves.',
        default: 'auto',
        variables: { backend: ['CORS_ORIGINS'] },
      }),
      agents: setting(origins, {
        meaning:
          'For /mcp, beside the pages of the platform. Agents that are not web pages send no origin and need none.',
        default: [],
        variables: { 'remote-mcp': ['SVC_ALLOWED_ORIGINS'] },
        write: comma,
      }),
      preventDnsRebinding: setting(trueOrFalse(), {
        meaning: 'false also lets pages of any other origin call /mcp: for development only.',
        default: true,
        variables: { 'remote-mcp': ['SVC_PREVENT_DNS_REBINDING'] },
        write: String,
      }),
    }),
    runtime: group("The platform's own runtime, which runs the MCP servers.", {
      name: setting(
        matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes or underscores'),
        { default: 'cloud', variables: { runtime: ['RUNTIME_NAME'] }, write: String },
      ),
      commands: setting(
        oneOf('any', 'none').or(commandNames).describe('any, none, or a list of commands such as [npx, uvx]'),
        {
          meaning: 'Commands that MCP servers may run: any, none, or a list such as [npx, uvx].',
          default: 'any',
          variables: { backend: ['MCP_SERVER_COMMANDS'] },
          write: (commands) => (typeof commands === 'string' ? commands : comma(commands) || 'none'),
        },
      ),
      // A value of an older file is passed on unchanged: the runtime interprets it, and reports how.
      sandbox: setting(oneOf(...sandboxes, formerNone).describe(`one of ${sandboxes.join(', ')}`), {
        meaning: `Which MCP servers that are commands run in a sandbox. Commands of operators come from \`svc server add\` and \`svc apply\`; members of a workspace set the others.
auto: operators' commands run as the user of \`svc up\`, members' in bubblewrap. Without bubblewrap or with engine: docker, members' are refused.
bwrap: all run in bubblewrap (Linux, the program bwrap), which sees programs, its own home, its cwd and allowedPaths. Needs engine: process.
container: all run in containers of images.base, with its programs only. The runtime uses Docker: root rights. Needs engine: process.
none-for-everybody: no command runs in a sandbox. Members' commands too have the permissions of the user of \`svc up\`.`,
        default: 'auto',
        variables: { runtime: ['MCP_SERVER_SANDBOX'] },
        write: (sandbox) => (sandbox === 'auto' ? '' : sandbox),
      }),
      startTimeout: setting(like(runtime.MCP_SERVER_START_TIMEOUT_SECONDS), {
        meaning:
          'How long an MCP server may take from its start to its list of tools, in seconds. An MCP server may have its own: svc server update NAME --start-timeout SECONDS.',
        default: 60,
        variables: { runtime: ['MCP_SERVER_START_TIMEOUT_SECONDS'] },
        write: String,
      }),
      callTimeout: setting(like(runtime.MCP_SERVER_CALL_TIMEOUT_SECONDS), {
        meaning:
          'How long a tool call may be without an answer and without progress, in seconds. An MCP server may have its own: svc server update NAME --call-timeout SECONDS. No call lasts longer than 30 minutes in all.',
        default: 60,
        variables: {
          runtime: ['MCP_SERVER_CALL_TIMEOUT_SECONDS'],
          'remote-mcp': ['MCP_SERVER_CALL_TIMEOUT_SECONDS'],
        },
        write: String,
      }),
      forwardStderr: setting(trueOrFalse(), {
        meaning:
          'Whether `svc logs` has what MCP servers write to standard error: up to 100 lines a minute of each, without their secrets.',
        default: true,
        variables: { runtime: ['FORWARD_STDERR'] },
        write: String,
      }),
      memberFolders: setting(absolutePaths, {
        meaning:
          "Folders of this machine for members: the cwd of a member's command is below one of them. An operator's may be anywhere.",
        default: [],
        variables: { runtime: ['MCP_SERVER_MEMBER_FOLDERS'] },
      }),
      dockerSocket: setting(absolutePath, {
        meaning:
          'The socket of the Docker that runs these containers, for sandbox: container. A rootless one has /run/user/UID/docker.sock.',
        default: '/var/run/docker.sock',
        variables: { runtime: ['MCP_SERVER_DOCKER_SOCKET'] },
      }),
      allowedPaths: setting(absolutePaths, {
        meaning:
          'Absolute paths that sandboxed MCP servers may read, and all paths of this machine that the runtime sees with engine: docker.',
        default: [],
        variables: { runtime: ['SVC_ALLOWED_PATHS'] },
      }),
      allowedAddresses: setting(
        listOf(
          addressBlock,
          'a list of IP addresses and blocks such as [192.168.1.20, 10.0.0.0/8], without host names and ports',
        ),
        {
          meaning:
            'IP addresses and blocks, such as [192.168.1.20, 10.0.0.0/8], that URLs of workspace members, and the authorization servers of integrations, may reach. Without them, they reach public addresses only, and none of this machine. URLs of operators (svc, svc apply) reach every address.',
          default: [],
          variables: { runtime: ['MCP_SERVER_ALLOWED_ADDRESSES'], backend: ['MCP_SERVER_ALLOWED_ADDRESSES'] },
          write: comma,
        },
      ),
    }),
    bus: group(
      'The connection between services. topology: embedded has its bus inside the single process; only persistentMessaging is read there.',
      {
        servers: setting(busServers, {
          hasOwnMessages: true,
          meaning:
            'auto: `svc up` runs nats-server, found on PATH. A list such as [nats://bus.example.com:4222] names an external one: no node is started, and it is checked before each start.',
          default: 'auto',
        }),
        port: setting(port, {
          meaning: "The port of the platform's own nats-server. With a number, further nodes use the next numbers.",
          default: 'auto',
          note: '4222',
        }),
        // auto, as in installations of older versions, opens none.
        httpPort: setting(optional(port), {
          meaning:
            'A number opens the monitoring of NATS on this machine, as 8222, and the next numbers for further nodes. It shows every connection without a credential. null: closed (auto means the same). svc status asks NATS at its client port.',
          default: null,
        }),
        ca: setting(pemFile, {
          meaning:
            "PEM file of the authority that signed the certificate of a bus with TLS (tls://…), relative to this folder. null: the system's authorities.",
          default: null,
          variables: { backend: ['BUS_CA_PATH'], 'remote-mcp': ['BUS_CA_PATH'], runtime: ['BUS_CA_PATH'] },
        }),
        persistentMessaging: setting(trueOrFalse(), {
          meaning: "true keeps agents' sessions and usage records across a restart; false keeps them in memory only.",
          default: true,
          variables: { backend: ['BUS_PERSISTENT_MESSAGING'], 'remote-mcp': ['BUS_PERSISTENT_MESSAGING'] },
        }),
        public: setting(publicBus, {
          hasOwnMessages: true,
          meaning: `How runtimes on other machines reach the bus; it needs topology: distributed, and a number as port. null: only this machine reaches it.
Example:
  public:
    servers: [tls://bus.example.com:4222] # the addresses for \`svc runtime register\`: for a cluster, one of each node
    bind: 0.0.0.0 # the listen address of the platform's own nats-server; default 127.0.0.1
    tls: { cert: secrets/bus.pem, key: secrets/bus.key, ca: secrets/bus-ca.pem } # ca: only for your own authority
Instead of tls, insecure: true lets others on the network read keys and calls. tls:// without tls: a proxy in front terminates TLS.`,
          default: null,
          variables: { backend: ['PUBLIC_BUS_SERVERS'] },
        }),
      },
    ),
    graphdb: group('The cluster for graph: dgraph. With graph: sqlite these settings are ignored.', {
      url: setting(orAuto(graphAddress), {
        meaning: `auto: \`svc up\` runs dgraph, found on PATH or as containers: a coordination node (zero) and a data node (alpha), reachable from this machine only, and in containers from the backend only.
An address such as https://dgraph.example.com:8080 is the HTTP endpoint of an external one, with engine: process: no node is started, and it is checked before each start. ca, user, token and grpc are read only then.`,
        default: 'auto',
        variables: { backend: ['PRIVATE_GRAPHDB_URL'] },
      }),
      grpc: setting(orAuto(listOf(grpcAddress, 'a list of hosts with their ports such as [dgraph.example.com:9080]')), {
        meaning:
          'gRPC addresses of all of its data nodes, such as [dgraph.example.com:9080]. auto is the host of url, at its port + 1000.',
        default: 'auto',
        variables: { backend: ['PRIVATE_GRAPHDB_GRPC_URL'] },
      }),
      ca: setting(pemFile, {
        meaning:
          "PEM file of the authority that signed the certificate of an https:// address, relative to this folder. null: the system's authorities.",
        default: null,
        variables: { backend: ['PRIVATE_GRAPHDB_CA_PATH'] },
      }),
      user: setting(optional(matching(/^[A-Za-z0-9._@-]{1,255}$/, 'the name of a user')), {
        meaning: `The backend's user there, with its password in secrets/graphdb-password.key. It needs the rights to read, write and modify dgraph.all.
null: that Dgraph has no users.`,
        default: null,
        variables: { backend: ['PRIVATE_GRAPHDB_USER'] },
      }),
      token: setting(trueOrFalse(), {
        meaning:
          'true: its administration requires a token (--security token=…), which is in secrets/graphdb-token.key.',
        default: false,
      }),
      // A node's other ports are 1000 above and below.
      port: setting(orAuto(wholeNumber(2024, 64_535)), {
        meaning:
          "Ports of the platform's own Dgraph; with a number, further nodes use the next numbers. Dgraph moves all ports of a node together: for the data node this is HTTP, gRPC is 1000 above and its internal port 1000 below; for the coordination node it is gRPC, and HTTP is 1000 above.",
        default: 'auto',
        note: '8080',
      }),
      zeroPort: setting(orAuto(wholeNumber(1024, 64_535)), { default: 'auto', note: '5080' }),
      cacheMb: setting(wholeNumber(16, 65_536), {
        meaning: "The cache of the platform's own data node in memory, in MB.",
        default: 128,
      }),
    }),
    limits: group('Limits of agents, skills and containers.', {
      sessionIdleTimeoutMs: setting(like(remoteMcp.SVC_SESSION_IDLE_TIMEOUT_MS), {
        meaning: "Idle time after which an agent's session ends.",
        default: 300_000,
        variables: { 'remote-mcp': ['SVC_SESSION_IDLE_TIMEOUT_MS'] },
        write: String,
      }),
      fileSizeMaxMb: setting(like(runtime.SVC_MAX_FILE_SIZE_MB), {
        meaning: 'The largest file of a skill.',
        default: 10,
        variables: { backend: ['SVC_MAX_FILE_SIZE_MB'], runtime: ['SVC_MAX_FILE_SIZE_MB'] },
        write: String,
      }),
      historyDays: setting(like(backend.HISTORY_DAYS), {
        meaning:
          'How many days the activity of a workspace and the usage of its tools are kept. Older entries are removed.',
        default: 365,
        variables: { backend: ['HISTORY_DAYS'] },
        write: String,
      }),
      startSecondsMax: setting(orAuto(wholeNumber(5, 3600)), {
        meaning: 'How long a part may take from its start until it is ready, in seconds.',
        default: 'auto',
        note: '60, and 300 for a node of Dgraph: its first start holds elections',
      }),
      memoryMaxMb: group(
        "The most memory for a container of each, in MB. engine: docker reads it, where the runtime's includes its MCP servers; mcp-server is for each of them with runtime.sandbox: container.",
        {
          backend: setting(memory, { default: 512 }),
          'remote-mcp': setting(memory, { default: 512 }),
          runtime: setting(memory, { default: 2048 }),
          'mcp-server': setting(memory, { default: 1024, variables: { runtime: ['MCP_SERVER_MEMORY_MAX_MB'] } }),
          frontend: setting(memory, { default: 256 }),
          nats: setting(memory, { default: 1024 }),
          caddy: setting(memory, { default: 256 }),
          'dgraph-zero': setting(memory, { default: 512 }),
          'dgraph-alpha': setting(memory, { default: 1536, note: 'at least 256 more than graphdb.cacheMb' }),
        },
      ),
    }),
    signIn: group('How people sign in to the web page. A link by mail or from an operator always works.', {
      passwords: setting(trueOrFalse(), {
        meaning: 'Whether people may have passwords. Passkeys are offered wherever the page has https.',
        default: true,
        variables: { backend: ['SIGN_IN_PASSWORDS'] },
        write: String,
      }),
      provider: group(
        'An OpenID provider of your own, with the secret of this platform in secrets/sign-in-provider.key. Register PUBLIC_BACKEND_URL/account/provider/callback there as redirect URI. The first sign-in of a person finds the account by an address that the provider has verified.',
        {
          name: setting(like(backend.SIGN_IN_PROVIDER_NAME), {
            meaning: 'Its name on the sign-in page.',
            default: 'OpenID',
            variables: { backend: ['SIGN_IN_PROVIDER_NAME'] },
          }),
          issuer: setting(optional(like(backend.SIGN_IN_PROVIDER_ISSUER)), {
            meaning: 'Its issuer, such as https://login.example.com, exactly as the provider writes it. null: none.',
            default: null,
            variables: { backend: ['SIGN_IN_PROVIDER_ISSUER'] },
            write: given,
          }),
          clientId: setting(optional(like(backend.SIGN_IN_PROVIDER_CLIENT_ID)), {
            meaning: 'The id of this platform at the provider.',
            default: null,
            variables: { backend: ['SIGN_IN_PROVIDER_CLIENT_ID'] },
            write: given,
          }),
        },
      ),
    }),
    mail: group('How mail is sent: invitations, and links for forgotten passwords and new addresses.', {
      provider: setting(oneOf('log', 'provider_a', 'provider_b', 'smtp'), {
        meaning: `log writes mail to the log of the backend, at level info, with its one-time links: whoever reads that log can use them.
provider_a (EU) and provider_b (US) send it over HTTP, with the key in secrets/mail.key. smtp sends it by a mail server of your own.`,
        default: 'log',
        variables: { backend: ['EMAIL_PROVIDER'] },
        write: String,
      }),
      from: setting(optional(email), {
        meaning: "The sender's address. Every provider but log needs it.",
        default: null,
        variables: { backend: ['EMAIL_FROM'] },
        write: given,
      }),
      fromName: setting(like(backend.EMAIL_FROM_NAME), {
        meaning: "The sender's name, for provider_a and smtp.",
        default: 'The Service Team',
        variables: { backend: ['EMAIL_FROM_NAME'] },
        write: String,
      }),
      url: setting(optional(like(backend.PROVIDER_A_URL)), {
        meaning: "Address of the provider's API. provider_a and provider_b need it.",
        default: null,
        variables: { backend: ['PROVIDER_A_URL', 'PROVIDER_B_URL'] },
      }),
      timeoutSeconds: setting(like(backend.PROVIDER_A_TIMEOUT_SECONDS), {
        meaning: 'How long provider_a may take for a mail, in seconds.',
        default: 10,
        variables: { backend: ['PROVIDER_A_TIMEOUT_SECONDS'] },
        write: String,
      }),
      smtp: group('A mail server of your own, for provider: smtp.', {
        host: setting(optional(mailHost), {
          meaning: 'Its name or address, such as mail.example.com. smtp needs it.',
          default: null,
          variables: { backend: ['SMTP_HOST'] },
        }),
        port: setting(wholeNumber(1, 65_535), {
          default: 587,
          note: '465 is usual with tls: implicit',
          variables: { backend: ['SMTP_PORT'] },
        }),
        tls: setting(oneOf('starttls', 'implicit', 'none'), {
          meaning:
            'starttls: the connection is encrypted before anything is sent, or nothing is sent. implicit: it is encrypted from its beginning. none: in your own network only, because links and password can be read on the way.',
          default: 'starttls',
          variables: { backend: ['SMTP_TLS'] },
        }),
        user: setting(optional(like(backend.SMTP_USER)), {
          meaning: 'Its user, whose password is in secrets/mail.key. null: without a login.',
          default: null,
          variables: { backend: ['SMTP_USER'] },
        }),
        ca: setting(pemFile, {
          meaning:
            "PEM file of the authority that signed its certificate, relative to this folder. null: the system's authorities.",
          default: null,
          variables: { backend: ['SMTP_CA_PATH'] },
        }),
      }),
    }),
    logs: group('The log level of services, and the size of logs.', {
      level: setting(like(backend.LOG_LEVEL), {
        meaning: 'trace, debug, info, warn or error.',
        default: 'info',
        variables: everyService('LOG_LEVEL'),
        write: String,
      }),
      levels: setting(optional(likeText(runtime.LOG_LEVELS)), {
        meaning: 'Levels by logger: <pattern>=<level>, separated by commas, such as supervisor=debug,http.*=warn.',
        default: null,
        variables: { 'remote-mcp': ['LOG_LEVELS'], runtime: ['LOG_LEVELS'] },
        write: given,
      }),
      fileSizeMaxMb: setting(wholeNumber(1, 1000), {
        meaning: "The largest size of each service's log file.",
        default: 10,
      }),
      filesKept: setting(wholeNumber(1, 100), {
        meaning: 'Number of older log files of a service that are kept.',
        default: 2,
      }),
    }),
    environment: group(
      'Any other variable of the reference, by service, such as HEARTBEAT_INTERVAL: 1000. Secrets belong in secrets/.',
      {
        backend: otherVariables('backend'),
        'remote-mcp': otherVariables('remote-mcp'),
        runtime: otherVariables('runtime'),
        frontend: otherVariables('frontend'),
      },
    ),
  },
);

/** Variables with another source: the topology, the installation's folder, or a file in secrets/. */
const elsewhere: { readonly [Service in ServiceName]: Readonly<Record<string, string>> } = {
  backend: {
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    INSTALLATION_DIR: 'the installation folder',
    PRIVATE_GRAPHDB_PASSWORD: 'secrets/graphdb-password.key',
    PRIVATE_GRAPHDB_TOKEN: 'secrets/graphdb-token.key',
    BUS_CALLOUT_SEED: 'secrets/bus-callout.seed',
    BUS_SYSTEM_SEED: 'secrets/bus-system.seed',
    BUS_ISSUER_SEED: 'secrets/bus-issuer.seed',
    ENCRYPTION_KEY: 'secrets/encryption.key',
    JWT_PRIVATE_KEY_PATH: 'secrets/jwt-private.pem',
    JWT_PUBLIC_KEY_PATH: 'secrets/jwt-public.pem',
    SIGN_IN_PROVIDER_CLIENT_SECRET: 'secrets/sign-in-provider.key',
    PROVIDER_A_API_KEY: 'secrets/mail.key',
    PROVIDER_B_API_KEY: 'secrets/mail.key',
    SMTP_PASSWORD: 'secrets/mail.key',
  },
  'remote-mcp': {
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    SYSTEM_KEY: 'secrets/system-remote-mcp.key',
  },
  runtime: {
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    SYSTEM_KEY: 'secrets/system-runtime.key',
    RUNTIME_KEY: 'secrets/system-runtime.key',
    SVC_WORKING_DIR: 'the installation folder',
    MCP_SERVER_HIDDEN_PATHS: 'the installation folder',
  },
  frontend: { NODE_ENV: 'the topology' },
};

/** The place that decides the variable. A second place for it would conflict. */
export function placeOf(service: ServiceName, variable: string): string | undefined {
  return settingOf(settings, service, variable) ?? elsewhere[service][variable];
}
