import { parseAddressBlock } from '../../services/contracts/address-block.ts';
import { variables } from '../../services/contracts/env/variables.ts';
import { formerNone, sandboxes } from '../../services/contracts/sandbox.ts';
import { extraVariables } from './extra-variables.ts';
import {
  type Field,
  field,
  like,
  likeText,
  listOf,
  matching,
  oneOf,
  optional,
  orAuto,
  trueOrFalse,
  type ValueOf,
  wholeNumber,
} from './field.ts';
import { publicBus } from './public-bus.ts';
import { acmeDirectory, pemPath, publicHost } from './public-host.ts';

/** What listens on a port: the four services, under the names of `services[].name`. */
export const listeners = ['backend', 'remote-mcp', 'runtime', 'frontend'] as const;
export type ListenerName = (typeof listeners)[number];

export const topologies = ['embedded', 'distributed'] as const;
export type Topology = (typeof topologies)[number];
export const graphs = ['sqlite', 'dgraph'] as const;
export type Graph = (typeof graphs)[number];
export const engines = ['process', 'docker'] as const;
export type Engine = (typeof engines)[number];

export type Auto<Value> = Value | 'auto';

const { backend, 'remote-mcp': remoteMcp, runtime } = variables;

/** A service cannot be announced before its port is known, so "any" (0) is not a port here. */
const port = orAuto(wholeNumber(1, 65_535));
const email = matching(/^[^\s@]{1,64}@[^\s@]{1,255}$/, 'an e-mail address');
const publicUrl = orAuto(like(backend.PUBLIC_BACKEND_URL));
const origin = field('an origin such as https://app.example.com', (raw) =>
  typeof raw === 'string' && URL.canParse(raw) && new URL(raw).origin === raw ? raw : null,
);
const origins = listOf(origin, 'a list of origins such as [https://app.example.com], without a path');
const commandName = matching(/^[^\s,]{1,255}$/, 'the name of a command');
const absolutePath = matching(/^\/[^:]*$/, 'an absolute path without a colon');
const addressBlock = field('an IP address or a block such as 10.0.0.0/8', (raw) =>
  typeof raw === 'string' && parseAddressBlock(raw) !== null ? raw : null,
);
/** More than one machine can make use of. */
const replicas = wholeNumber(1, 16);
/** Of nodes that decide by majority, as many as one alone or three of which one may die. */
const majority = field('1 or 3 (of two, both would be needed)', (raw) => (raw === 1 || raw === 3 ? raw : null));
const graphAddress = field('an address such as https://dgraph.example.com:8080', (raw) => {
  const isAddress = typeof raw === 'string' && /^https?:\/\/[^\s@/,]+:\d+$/.test(raw) && URL.canParse(raw);
  return isAddress ? raw : null;
});
const grpcAddress = matching(/^[^\s@/,]+:\d{1,5}$/, 'a host with its port');
const pemFile = matching(/^.{1,4096}$/, 'the path of a PEM file');
/** "latest" and "24" are other images tomorrow; what was chosen is to be known by its name. */
const image = matching(
  /^(?=.{1,255}$)[a-z0-9][a-z0-9._/:-]*:\w*\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/,
  'an image with an exact version, such as node:24.21.0-bookworm-slim',
);
/** In MB. With less than the smallest, Node itself does not start. */
const memory = wholeNumber(64, 1_048_576);
const busAddress = field('an address such as nats://bus.example.com:4222', (raw) => {
  const isAddress = typeof raw === 'string' && /^(nats|tls):\/\/[^\s@/,]+:\d+$/.test(raw) && URL.canParse(raw);
  return isAddress ? raw : null;
});
const busAddresses: Field<readonly string[]> = {
  rule: 'a list of addresses such as [nats://bus.example.com:4222]',
  // Not repeated, because this file and what is said about it are no places for a password.
  complaints: (raw) =>
    JSON.stringify(raw)?.includes('@')
      ? [
          {
            path: [],
            message: 'bus.servers must hold addresses without user and password: our services show keys of their own.',
          },
        ]
      : [],
  parse: (raw) => {
    const addresses = listOf(busAddress, '').parse(raw);
    return addresses === null || addresses.length === 0 ? null : addresses;
  },
};

/** Every field of svc.yaml and the rule it keeps. Meaning and default of each are in templates/svc.yaml, field by field. */
export const shape = {
  id: matching(/^[a-z0-9]{8,32}$/, '8 to 32 small letters and digits'),
  name: matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, '1 to 63 letters, digits, dots, dashes or underscores'),
  topology: oneOf(...topologies),
  graph: oneOf(...graphs),
  engine: oneOf(...engines),
  images: { base: image, nats: image, caddy: image, dgraph: image },
  owner: { email },
  bind: matching(/^[0-9A-Za-z.:-]{1,255}$/, 'an address of this machine, such as 127.0.0.1 or 0.0.0.0'),
  ports: { backend: port, 'remote-mcp': port, runtime: port, frontend: port },
  replicas: {
    backend: replicas,
    'remote-mcp': replicas,
    runtime: replicas,
    nats: majority,
    'dgraph-zero': majority,
    'dgraph-alpha': wholeNumber(1, 3),
  },
  public: {
    host: optional(publicHost),
    tls: oneOf('none', 'files', 'acme'),
    cert: optional(pemPath),
    key: optional(pemPath),
    acme: { email: optional(email), directory: acmeDirectory, ca: optional(pemPath) },
    httpsPort: port,
    httpPort: port,
  },
  publicUrls: { backend: publicUrl, mcp: publicUrl, frontend: publicUrl },
  origins: { browsers: orAuto(origins), agents: origins, preventDnsRebinding: trueOrFalse() },
  runtime: {
    name: matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes or underscores'),
    commands: field('any, none, or a list of commands such as [npx, uvx]', (raw) =>
      raw === 'any' || raw === 'none' ? raw : listOf(commandName, '').parse(raw),
    ),
    // What older files say is passed on as it is: the runtime reads it, and says how.
    sandbox: field(`one of ${sandboxes.join(', ')}`, (raw) =>
      raw === formerNone ? formerNone : oneOf(...sandboxes).parse(raw),
    ),
    memberFolders: listOf(absolutePath, 'a list of absolute paths'),
    dockerSocket: absolutePath,
    allowedPaths: listOf(absolutePath, 'a list of absolute paths'),
    allowedAddresses: listOf(
      addressBlock,
      'a list of IP addresses and blocks such as [192.168.1.20, 10.0.0.0/8], without host names and ports',
    ),
  },
  bus: {
    servers: orAuto(busAddresses),
    port,
    // auto, as installations of older versions say it, opens none.
    httpPort: optional(port),
    ca: optional(pemFile),
    persistentMessaging: trueOrFalse(),
    public: publicBus,
  },
  graphdb: {
    url: orAuto(graphAddress),
    grpc: orAuto(listOf(grpcAddress, 'a list of hosts with their ports such as [dgraph.example.com:9080]')),
    ca: optional(pemFile),
    user: optional(matching(/^[A-Za-z0-9._@-]{1,255}$/, 'the name of a user')),
    token: trueOrFalse(),
    // Dgraph's other ports of a node are 1000 above and below.
    port: orAuto(wholeNumber(2024, 64_535)),
    zeroPort: orAuto(wholeNumber(1024, 64_535)),
    cacheMb: wholeNumber(16, 65_536),
  },
  limits: {
    sessionIdleTimeoutMs: like(remoteMcp.SVC_SESSION_IDLE_TIMEOUT_MS),
    fileSizeMaxMb: like(runtime.SVC_MAX_FILE_SIZE_MB),
    memoryMaxMb: {
      backend: memory,
      'remote-mcp': memory,
      runtime: memory,
      'mcp-server': memory,
      frontend: memory,
      nats: memory,
      caddy: memory,
      'dgraph-zero': memory,
      'dgraph-alpha': memory,
    },
  },
  mail: {
    provider: oneOf('log', 'provider_a', 'provider_b'),
    from: optional(like(backend.EMAIL_FROM)),
    fromName: like(backend.EMAIL_FROM_NAME),
    url: optional(like(backend.PROVIDER_A_URL)),
    timeoutSeconds: like(backend.PROVIDER_A_TIMEOUT_SECONDS),
  },
  logs: {
    level: like(backend.LOG_LEVEL),
    levels: optional(likeText(runtime.LOG_LEVELS)),
    fileSizeMaxMb: wholeNumber(1, 1000),
    filesKept: wholeNumber(1, 100),
  },
  environment: {
    backend: extraVariables('backend'),
    'remote-mcp': extraVariables('remote-mcp'),
    runtime: extraVariables('runtime'),
    frontend: extraVariables('frontend'),
  },
} as const;

/** What svc.yaml says, checked: every choice of an installation, and no secret. */
export type Definition = ValueOf<typeof shape>;
