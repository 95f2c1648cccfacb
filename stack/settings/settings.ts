import { parseAddressBlock } from '../../services/contracts/address-block.ts';
import { type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { formerNone, sandboxes } from '../../services/contracts/sandbox.ts';
import { engines, graphs, topologies } from './choices.ts';
import { extraVariables } from './extra-variables.ts';
import { publicBus } from './public-bus.ts';
import {
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
  withComplaints,
} from './rules.ts';
import { group, setting, settingOf } from './setting.ts';

const { backend, 'remote-mcp': remoteMcp, runtime } = variables;

/** A service cannot be announced before its port is known, so "any" (0) is not a port here. */
const port = orAuto(wholeNumber(1, 65_535));
const email = matching(/^[^\s@]{1,64}@[^\s@]{1,255}$/, 'an e-mail address');
const publicUrl = orAuto(like(backend.PUBLIC_BACKEND_URL));
const origin = textThat('an origin', (text) => URL.canParse(text) && new URL(text).origin === text);
const origins = listOf(origin, 'a list of origins such as [https://app.example.com], without a path');
const commandNames = listOf(matching(/^[^\s,]{1,255}$/, 'the name of a command'), 'a list of commands');
const absolutePaths = listOf(absolutePath(), 'a list of absolute paths');
const addressBlock = textThat('an IP address or a block', (text) => parseAddressBlock(text) !== null);
/** More than one machine can make use of. */
const replicas = wholeNumber(1, 16);
/** Nodes that decide by majority. */
const majority = wholeNumber(1, 3)
  .refine((count): count is 1 | 3 => count !== 2)
  .describe('1 or 3 (of two, both would be needed)');
const graphAddress = textThat(
  'an address such as https://dgraph.example.com:8080',
  (text) => /^https?:\/\/[^\s@/,]+:\d+$/.test(text) && URL.canParse(text),
);
const grpcAddress = matching(/^[^\s@/,]+:\d{1,5}$/, 'a host with its port');
const pemFile = optional(matching(/^.{1,4096}$/, 'the path of a PEM file'));
/** It stands in the configuration of Caddy, where these characters mean something. */
const pemFileOfCaddy = optional(
  matching(/^[^"`\\{}\r\n]{1,4096}$/, 'the path of a PEM file, without quotes, braces and backslashes'),
);
const acmeDirectory = textThat(
  'an https address without quotes and braces',
  (text) => /^https:\/\/[^\s"`\\{}]{1,2000}$/.test(text) && URL.canParse(text),
);
const hostName = textThat(
  'a name such as agents.example.com, in small letters',
  (text) => text.length <= 253 && /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(text),
);
/** The tags "latest" and "24" name another image tomorrow. An exact version or a digest names the chosen one. */
const image = matching(
  /^(?=.{1,255}$)[a-z0-9][a-z0-9._/:-]*(:\w*\d+\.\d+[\w.-]*|@sha256:[0-9a-f]{64}|:[\w.-]+@sha256:[0-9a-f]{64})$/,
  'an image with an exact version, such as node:24.21.0-bookworm-slim, or with its digest',
);
/** In MB. With less than the smallest, Node itself does not start. */
const memory = wholeNumber(64, 1_048_576);
const busAddresses = withComplaints(
  'a list of addresses such as [nats://bus.example.com:4222]',
  // Not repeated, because this file and what is said about it are no places for a password.
  (raw) => (JSON.stringify(raw)?.includes('@') ? [{ path: [], message: noPasswords }] : []),
  (raw): readonly string[] | null =>
    Array.isArray(raw) && raw.length > 0 && raw.length <= 1000 && raw.every(isBusAddress) ? raw : null,
);
const noPasswords = 'bus.servers must hold addresses without user and password: our services show keys of their own.';

function isBusAddress(raw: unknown): raw is string {
  return typeof raw === 'string' && /^(nats|tls):\/\/[^\s@/,]+:\d+$/.test(raw) && URL.canParse(raw);
}

function absolutePath() {
  return matching(/^\/[^:]*$/, 'an absolute path without a colon');
}

const everyService = (...names: readonly string[]) => ({
  backend: names,
  'remote-mcp': names,
  runtime: names,
  frontend: names,
});
const comma = (list: readonly string[]) => list.join(',');
const given = (text: string | undefined) => text ?? '';

/** Every setting of svc.yaml, in its order: what it means, its rule, its default, and which variables of services it decides. */
export const settings = group(
  `svc.yaml: every choice of this installation, and no secret: it is safe in git.
What is left out has the value shown here. \`svc config check\` says what is wrong with this file, and where; \`svc up\` makes the platform run as it says.`,
  {
    id: setting(matching(/^[a-z0-9]{8,32}$/, '8 to 32 small letters and digits'), {
      meaning: 'Random, made by `svc init`: tells installations apart that share a host name. Keep it.',
      default: undefined,
    }),
    name: setting(
      matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, '1 to 63 letters, digits, dots, dashes or underscores'),
      { meaning: 'What this installation is called.', default: 'svc' },
    ),
    topology: setting(oneOf(...topologies), {
      meaning: `embedded: one process holds everything. distributed: one process or more for each service, which meet on NATS.
\`svc move\` changes this and graph, and brings along what is kept; where they are changed by hand, the other side begins without it.`,
      default: 'embedded',
    }),
    graph: setting(oneOf(...graphs), {
      meaning:
        'Where data is kept: sqlite, a file in data/, with the files of skills beside it in data/blobs. dgraph: a cluster of its own, which `graphdb` is about, with the files of skills on the bus; it needs topology: distributed.',
      default: 'sqlite',
      variables: { backend: ['FILES_DIR'] },
    }),
    engine: setting(oneOf(...engines), {
      meaning:
        'What runs the parts: process, on this machine. docker: each in a container; it needs topology: distributed and a Docker on this machine.',
      default: 'process',
    }),
    images: group(
      'What containers are made of, by exact versions. With engine: docker, `svc up` builds the image of the services on `base`, and the others are taken as they are; with runtime.sandbox: container, MCP servers run in `base`. It brings node and npm: put a base of your own here where MCP servers need other programs.',
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
    owner: group('Who owns the workspace Default, which the first `svc up` creates.', {
      email: setting(email, { default: 'owner@localhost' }),
    }),
    bind: setting(matching(/^[0-9A-Za-z.:-]{1,255}$/, 'an address of this machine, such as 127.0.0.1 or 0.0.0.0'), {
      meaning:
        'The address that services listen on, or caddy in front of them. 127.0.0.1 is this machine only; 0.0.0.0 is every network this machine is in.',
      default: '127.0.0.1',
      variables: everyService('BIND_HOST'),
    }),
    ports: group(
      'A number is that port and no other. auto is the port beside it or, where another program has that one, the next free port; which one it became is written to state/ports.json and kept from then on.',
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
      'How many processes of each service, any of which may die; more than 1 needs topology: distributed, and of the backend graph: dgraph besides. Several backends, and several remote-mcps, share the address of one, through caddy: found on the path, or a container.',
      {
        backend: setting(replicas, { default: 1 }),
        'remote-mcp': setting(replicas, { default: 1 }),
        runtime: setting(replicas, { default: 1 }),
        nats: setting(majority, {
          meaning:
            'Nodes of our own NATS: 1 or 3. Of three any one may die, and its disk may be lost: each has all that is kept. What is kept may have to be waited for, for up to ten seconds, while another node takes over; calls go on. A changed number is taken up by the next `svc up`.',
          default: 1,
        }),
        'dgraph-zero': setting(majority, {
          meaning:
            'Nodes of our own Dgraph. They can become more, not fewer. Those of coordination: 1 or 3, of which any one may die.',
          default: 1,
        }),
        'dgraph-alpha': setting(wholeNumber(1, 3), {
          meaning:
            'Data nodes, each with all data: 1, 2 or 3. With two nothing that was saved is lost with one of them, and while one is away nothing can be changed: what is there is read from the other. With three any one may die, and all goes on within ten seconds.',
          default: 1,
        }),
      },
    ),
    public: group(
      'One host name for everything, through caddy as above: https://HOST is the web page, and agents connect to https://HOST/mcp. What is not for others is closed there. It needs topology: distributed. The services are then on loopback, and caddy listens on what `bind` says.',
      {
        host: setting(optional(hostName), {
          meaning:
            'A name such as agents.example.com, which leads to this machine. null: each service has an address of its own.',
          default: null,
        }),
        tls: setting(oneOf('none', 'files', 'acme'), {
          meaning:
            'files: with cert and key. acme: with a certificate that caddy gets and renews by itself. none: http, where something else in front speaks TLS.',
          default: 'none',
        }),
        cert: setting(pemFileOfCaddy, {
          meaning:
            'PEM file for tls: files, from this folder, with what vouches for it up to the authority. One that was renewed is taken up by `svc up`.',
          default: null,
        }),
        key: setting(pemFileOfCaddy, { meaning: 'PEM file with the private key of cert.', default: null }),
        acme: group('The authority that certificates come from, with tls: acme.', {
          email: setting(optional(email), { meaning: 'Where the authority writes to.', default: null }),
          directory: setting(acmeDirectory, {
            meaning: 'Its directory, an address of the ACME protocol.',
            default: 'https://acme-v02.api.letsencrypt.org/directory',
          }),
          ca: setting(pemFileOfCaddy, {
            meaning:
              'PEM file that vouches for the directory itself, from this folder. null: the authorities that systems know.',
            default: null,
          }),
        }),
        httpsPort: setting(port, {
          meaning:
            'A number, or auto: that or the next free one. Browsers look for 443 and 80, and so does acme, be it that something passes these on.',
          default: 443,
        }),
        httpPort: setting(port, {
          meaning: 'Leads to https; with tls: none it is where everything is.',
          default: 80,
        }),
      },
    ),
    publicUrls: group(
      'Where people, browsers and agents reach the platform. auto is http://localhost with the port above, or what `public` says.',
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
        frontend: setting(publicUrl, {
          default: 'auto',
          note: 'http://localhost:8888',
          variables: { backend: ['PUBLIC_FRONTEND_URL'] },
        }),
      },
    ),
    origins: group('Which web pages may talk to the platform, as origins such as https://app.example.com.', {
      browsers: setting(orAuto(origins), {
        meaning: 'To the backend. auto is the frontend and the backend themselves.',
        default: 'auto',
        variables: { backend: ['CORS_ORIGINS'] },
      }),
      agents: setting(origins, {
        meaning: 'To /mcp. Agents that are no web page send no origin and need none.',
        default: [],
        variables: { 'remote-mcp': ['SVC_ALLOWED_ORIGINS'] },
        write: comma,
      }),
      preventDnsRebinding: setting(trueOrFalse(), {
        meaning: 'false also lets pages of any other origin speak to /mcp: for development only.',
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
          meaning: 'Which commands MCP servers may run: any, none, or a list such as [npx, uvx].',
          default: 'any',
          variables: { backend: ['MCP_SERVER_COMMANDS'] },
          write: (commands) => (typeof commands === 'string' ? commands : comma(commands) || 'none'),
        },
      ),
      // What older files say is passed on as it is: the runtime reads it, and says how.
      sandbox: setting(oneOf(...sandboxes, formerNone).describe(`one of ${sandboxes.join(', ')}`), {
        meaning: `Which MCP servers that are commands run in a sandbox. Commands of operators come from \`svc server add\` and \`svc apply\`; members of a workspace set the others.
auto: operators' commands run as the user of \`svc up\`, members' in bubblewrap. Without bubblewrap or with engine: docker, members' are refused.
bwrap: all run in bubblewrap (Linux, the program bwrap), which sees programs, its own home, its cwd and allowedPaths. Needs engine: process.
container: all run in containers of images.base, with its programs only. The runtime uses Docker: root rights. Needs engine: process.
none-for-everybody: no command runs in a sandbox. Members' commands too may do what the user of \`svc up\` may.`,
        default: 'auto',
        variables: { runtime: ['MCP_SERVER_SANDBOX'] },
        write: (sandbox) => (sandbox === 'auto' ? '' : sandbox),
      }),
      memberFolders: setting(absolutePaths, {
        meaning:
          "Folders of this machine for members: the cwd of a command that a member set lies below one of them. The operator's may lie anywhere.",
        default: [],
        variables: { runtime: ['MCP_SERVER_MEMBER_FOLDERS'] },
      }),
      dockerSocket: setting(absolutePath(), {
        meaning:
          'The Docker that runs these containers; sandbox: container reads it. A rootless one has /run/user/UID/docker.sock.',
        default: '/var/run/docker.sock',
        variables: { runtime: ['MCP_SERVER_DOCKER_SOCKET'] },
      }),
      allowedPaths: setting(absolutePaths, {
        meaning:
          'Absolute paths that sandboxed MCP servers may read from, and all that the runtime sees of this machine with engine: docker.',
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
            'IP addresses and blocks, such as [192.168.1.20, 10.0.0.0/8], that URLs set by members of a workspace may lead to. Without them they reach public addresses only, and none of this machine. URLs that an operator set (svc, svc apply) reach every address.',
          default: [],
          variables: { runtime: ['MCP_SERVER_ALLOWED_ADDRESSES'] },
          write: comma,
        },
      ),
    }),
    bus: group(
      'How services talk. topology: embedded has its bus inside the one process; only persistentMessaging is read there.',
      {
        servers: setting(orAuto(busAddresses), {
          meaning:
            'auto: `svc up` runs nats-server, found on the path. A list such as [nats://bus.example.com:4222] is one that somebody else runs: nothing is started, and it is checked before each start.',
          default: 'auto',
        }),
        port: setting(port, {
          meaning: 'The port of our own nats-server. Where it is a number, further nodes have the numbers after it.',
          default: 'auto',
          note: '4222',
        }),
        // auto, as installations of older versions say it, opens none.
        httpPort: setting(optional(port), {
          meaning:
            'A number opens the monitoring of NATS on this machine, as 8222, and on further nodes the numbers after it. Whoever reaches it sees every connection, without a credential. null: closed (auto means the same). svc status asks NATS at its own port.',
          default: null,
        }),
        ca: setting(pemFile, {
          meaning:
            'PEM file that vouches for a bus that speaks TLS (tls://…), from this folder. null: the authorities that systems know.',
          default: null,
          variables: { backend: ['BUS_CA_PATH'], 'remote-mcp': ['BUS_CA_PATH'], runtime: ['BUS_CA_PATH'] },
        }),
        persistentMessaging: setting(trueOrFalse(), {
          meaning: "true keeps agents' sessions and usage records through a restart; false keeps them in memory only.",
          default: true,
          variables: { backend: ['BUS_PERSISTENT_MESSAGING'], 'remote-mcp': ['BUS_PERSISTENT_MESSAGING'] },
        }),
        public: setting(publicBus, {
          meaning: `How runtimes on other machines reach the bus; it needs topology: distributed, and a number as port. null: only this machine reaches it.
Else, for example:
  public:
    servers: [tls://bus.example.com:4222] # what \`svc runtime register\` tells them: of a cluster, where each node is reached
    bind: 0.0.0.0 # the address that our own nats-server listens on; without it 127.0.0.1
    tls: { cert: secrets/bus.pem, key: secrets/bus.key, ca: secrets/bus-ca.pem } # ca: only for an authority of your own
In the place of tls, insecure: true lets everybody on the way read keys and calls. tls:// without tls: something else in between speaks it.`,
          default: null,
          variables: { backend: ['PUBLIC_BUS_SERVERS'] },
        }),
      },
    ),
    graphdb: group('The cluster that graph: dgraph keeps data in. With graph: sqlite nothing of it is read.', {
      url: setting(orAuto(graphAddress), {
        meaning: `auto: \`svc up\` runs dgraph, found on the path or as containers: a coordination node (zero) and a data node (alpha), reached from this machine only, and in containers by the backend alone.
An address such as https://dgraph.example.com:8080 is the HTTP endpoint of one that somebody else runs, with engine: process: nothing is started, and it is checked before each start. ca, user, token and grpc are read only then.`,
        default: 'auto',
        variables: { backend: ['PRIVATE_GRAPHDB_URL'] },
      }),
      grpc: setting(orAuto(listOf(grpcAddress, 'a list of hosts with their ports such as [dgraph.example.com:9080]')), {
        meaning:
          'Where all of its data nodes speak gRPC, such as [dgraph.example.com:9080]. auto is the host of url, at its port + 1000.',
        default: 'auto',
        variables: { backend: ['PRIVATE_GRAPHDB_GRPC_URL'] },
      }),
      ca: setting(pemFile, {
        meaning:
          'PEM file that vouches for an https:// address, from this folder. null: the authorities that systems know.',
        default: null,
        variables: { backend: ['PRIVATE_GRAPHDB_CA_PATH'] },
      }),
      user: setting(optional(matching(/^[A-Za-z0-9._@-]{1,255}$/, 'the name of a user')), {
        meaning: `Our user there, with its password in secrets/graphdb-password.key. It needs the rights to read, write and modify dgraph.all.
null: that Dgraph knows no users.`,
        default: null,
        variables: { backend: ['PRIVATE_GRAPHDB_USER'] },
      }),
      token: setting(trueOrFalse(), {
        meaning:
          'true: its administration takes a token (--security token=…), which lies in secrets/graphdb-token.key.',
        default: false,
      }),
      // Dgraph's other ports of a node are 1000 above and below.
      port: setting(orAuto(wholeNumber(2024, 64_535)), {
        meaning:
          'Ports of our own; where one is a number, further nodes have the numbers after it. Dgraph moves all ports of a node together: of the data node this is HTTP, gRPC is 1000 above and its internal port 1000 below; of the coordination node it is gRPC, and HTTP is 1000 above.',
        default: 'auto',
        note: '8080',
      }),
      zeroPort: setting(orAuto(wholeNumber(1024, 64_535)), { default: 'auto', note: '5080' }),
      cacheMb: setting(wholeNumber(16, 65_536), {
        meaning: 'What our own data node may keep in memory to answer faster, in MB.',
        default: 128,
      }),
    }),
    limits: group('How much agents, skills and containers may take.', {
      sessionIdleTimeoutMs: setting(like(remoteMcp.SVC_SESSION_IDLE_TIMEOUT_MS), {
        meaning: 'A session of an agent that is idle for this long ends.',
        default: 300_000,
        variables: { 'remote-mcp': ['SVC_SESSION_IDLE_TIMEOUT_MS'] },
        write: String,
      }),
      fileSizeMaxMb: setting(like(runtime.SVC_MAX_FILE_SIZE_MB), {
        meaning: 'The largest file that a skill may carry.',
        default: 10,
        variables: { backend: ['SVC_MAX_FILE_SIZE_MB'], runtime: ['SVC_MAX_FILE_SIZE_MB'] },
        write: String,
      }),
      historyDays: setting(like(backend.HISTORY_DAYS), {
        meaning:
          'How many days the activity of a workspace and the usage of its tools are kept. What is older is removed.',
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
        "The most memory that a container of each may take, in MB. engine: docker reads it, where the runtime's is for its MCP servers too; mcp-server is for each of them with runtime.sandbox: container.",
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
    mail: group('How mail is sent. Nothing sends any yet: these settings wait for invitations.', {
      provider: setting(oneOf('log', 'provider_a', 'provider_b'), {
        meaning:
          'log writes mail to the log; provider_a (EU) and provider_b (US) send it, with the key in secrets/mail.key.',
        default: 'log',
        variables: { backend: ['EMAIL_PROVIDER'] },
        write: String,
      }),
      from: setting(optional(like(backend.EMAIL_FROM)), {
        meaning: "The sender's address. provider_a and provider_b need it.",
        default: null,
        variables: { backend: ['EMAIL_FROM'] },
        write: given,
      }),
      fromName: setting(like(backend.EMAIL_FROM_NAME), {
        default: 'The Service Team',
        variables: { backend: ['EMAIL_FROM_NAME'] },
        write: String,
      }),
      url: setting(optional(like(backend.PROVIDER_A_URL)), {
        meaning: "Address of the provider's interface. provider_a and provider_b need it.",
        default: null,
        variables: { backend: ['PROVIDER_A_URL', 'PROVIDER_B_URL'] },
      }),
      timeoutSeconds: setting(like(backend.PROVIDER_A_TIMEOUT_SECONDS), {
        default: 10,
        variables: { backend: ['PROVIDER_A_TIMEOUT_SECONDS'] },
        write: String,
      }),
    }),
    logs: group('What services log, and how much of it is kept.', {
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
        meaning: 'Each service writes files of at most this size.',
        default: 10,
      }),
      filesKept: setting(wholeNumber(1, 100), { meaning: 'How many older files of a service are kept.', default: 2 }),
    }),
    environment: group(
      'Any other variable of the reference, by service, such as HEARTBEAT_INTERVAL: 1000. Secrets belong in secrets/.',
      {
        backend: setting(extraVariables('backend', placeOf), { default: {} }),
        'remote-mcp': setting(extraVariables('remote-mcp', placeOf), { default: {} }),
        runtime: setting(extraVariables('runtime', placeOf), { default: {} }),
        frontend: setting(extraVariables('frontend', placeOf), { default: {} }),
      },
    ),
  },
);

/** Variables that have another place: the topology, the installation's folder, or a file in secrets/. */
const elsewhere: { readonly [Service in ServiceName]: Readonly<Record<string, string>> } = {
  backend: {
    NODE_ENV: 'the topology',
    BUS_SERVERS: 'the topology',
    PRIVATE_GRAPHDB_PASSWORD: 'secrets/graphdb-password.key',
    PRIVATE_GRAPHDB_TOKEN: 'secrets/graphdb-token.key',
    BUS_CALLOUT_SEED: 'secrets/bus-callout.seed',
    BUS_SYSTEM_SEED: 'secrets/bus-system.seed',
    BUS_ISSUER_SEED: 'secrets/bus-issuer.seed',
    ENCRYPTION_KEY: 'secrets/encryption.key',
    JWT_PRIVATE_KEY_PATH: 'secrets/jwt-private.pem',
    JWT_PUBLIC_KEY_PATH: 'secrets/jwt-public.pem',
    PROVIDER_A_API_KEY: 'secrets/mail.key',
    PROVIDER_B_API_KEY: 'secrets/mail.key',
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

/** What decides that variable. A second place for it would leave open which counts. */
export function placeOf(service: ServiceName, variable: string): string | undefined {
  return settingOf(settings, service, variable) ?? elsewhere[service][variable];
}
