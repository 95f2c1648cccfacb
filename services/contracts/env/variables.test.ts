import { describe, expect, it, test } from 'vitest';
import { Secret } from '../secret.ts';
import { checkEnv, describeProblems, type EnvRecord } from './check.ts';
import type { Variable } from './variable.ts';
import { infrastructure, type ServiceName, variables } from './variables.ts';

/** Values of one variable: valid texts with their meaning, and texts that break its rule. */
interface Row {
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
}
type Rows = { readonly [Service in ServiceName]: { readonly [Name in keyof (typeof variables)[Service]]: Row } };

const hex = '0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCD'.slice(0, 64);
const key = (prefix: string) => `${prefix}${'a1B2c3D'.repeat(7)}`;
const long = (length: number) => 'x'.repeat(length);

const portRow: Row = {
  good: [
    ['0', 0],
    ['8080', 8080],
    ['65535', 65535],
  ],
  bad: ['65536', '-1', '80a', '1e3', '80.0', ' 80', '0x50', '１２'],
};
const range = (min: number, max: number): Row => ({
  good: [
    [String(min), min],
    [String(max), max],
  ],
  bad: [String(min - 1), String(max + 1), '1.5', 'ten', '9'.repeat(20)],
});
const choices = (...names: string[]): Row => ({
  good: names.map((name) => [name, name] as const),
  bad: [`${names[0]} `, names[0]?.toUpperCase() ?? '', 'constructor', 'other'],
});
const text = (lengthMax: number): Row => ({
  good: [
    ['some text', 'some text'],
    [long(lengthMax), long(lengthMax)],
  ],
  bad: [long(lengthMax + 1)],
});
const addressBlocks: Row = {
  good: [
    ['127.0.0.1', [{ bytes: [127, 0, 0, 1], prefix: 32 }]],
    [
      '10.0.0.0/8, fd00::/8',
      [
        { bytes: [10, 0, 0, 0], prefix: 8 },
        { bytes: [0xfd, ...new Array(15).fill(0)], prefix: 8 },
      ],
    ],
  ],
  bad: ['intranet.example', '10.0.0.1/8', '10.0.0.0/33', '127.1', '127.0.0.1:80', '[::1]', 'http://10.0.0.1'],
};
const url: Row = {
  good: [
    ['https://svc.example.com', 'https://svc.example.com'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['https://svc.example.com/base/', 'https://svc.example.com/base'],
  ],
  bad: [
    'svc.example.com',
    '//svc.example.com',
    'ftp://svc.example.com',
    'https://user@svc.example.com',
    'https://user:word@svc.example.com',
    'https://svc.example.com/?a=b',
    'https://svc.example.com/#a',
    'file:///etc/passwd',
    'https://',
  ],
};
const origins: Row = {
  good: [
    ['https://a.example.com', ['https://a.example.com']],
    ['http://localhost:8888, https://b.example.com', ['http://localhost:8888', 'https://b.example.com']],
  ],
  bad: ['https://a.example.com/', 'https://a.example.com/path', 'a.example.com', '*', 'https://A.example.com', 'null'],
};
const busServers: Row = {
  good: [
    ['inproc:', ['inproc:']],
    ['bus', ['bus']],
    ['bus-1:4222,nats://bus-2:4222, tls://[::1]:4222', ['bus-1:4222', 'nats://bus-2:4222', 'tls://[::1]:4222']],
  ],
  bad: [
    ',',
    'http://bus:4222',
    'bus:99999',
    'bus:port',
    'a b',
    'bus/path',
    'inproc:,bus:4222',
    Array(1001).fill('b').join(),
  ],
};
const boolean: Row = {
  good: [
    ['true', true],
    ['false', false],
  ],
  bad: ['1', '0', 'yes', 'TRUE', 'true '],
};
const secret = (good: string, bad: readonly string[]): Row => ({ good: [[good, new Secret(good)]], bad });
const seed = (prefix: 'SU' | 'SA'): Row => {
  const good = `${prefix}${'A2'.repeat(28)}`;
  return secret(good, [
    good.slice(0, -1),
    `${good}A`,
    good.replace(/..$/, 'a2'),
    good.replace(/^../, 'SN'),
    `${good}\n`,
  ]);
};
const hexSecret = secret(hex, [hex.slice(1), `${hex}0`, `${hex.slice(1)}g`, ` ${hex.slice(1)}`, `${hex}\n`]);
const providerKey = secret('key-of-a-provider', ['two words', 'tab\t', 'ü', long(513)]);
const platformKey = (prefix: string) =>
  secret(key(prefix), [
    key('SVA_'),
    key(prefix).slice(1),
    `${key(prefix)}x`,
    key(prefix).replace('1', '-'),
    `${prefix}short`,
  ]);
const logLevels = choices('trace', 'debug', 'info', 'warn', 'error');
const logRules: Row = {
  good: [
    ['bus=debug', [{ pattern: 'bus', level: 'debug' }]],
    [
      'super*=trace, *=error',
      [
        { pattern: 'super*', level: 'trace' },
        { pattern: '*', level: 'error' },
      ],
    ],
  ],
  bad: ['bus', 'bus=', '=debug', 'bus=loud', 'bus=debug=info', 'b(us=debug', 'bus=DEBUG'],
};
const environment = choices('development', 'production', 'test');
const year = 31_536_000;
const dayMs = 86_400_000;

const password = secret('a pass word', ['tab\t', 'ü', 'line\n', long(513)]);

const rows: Rows = {
  backend: {
    PORT: portRow,
    PRIVATE_GRAPHDB_URL: {
      good: [
        ['file:/var/lib/svc/graph.sqlite', 'file:/var/lib/svc/graph.sqlite'],
        ['graph:8080', 'graph:8080'],
        ['http://[::1]:8080', 'http://[::1]:8080'],
      ],
      bad: ['file:', 'file:relative', 'ftp://graph:8080', 'graph:99999', 'graph:8080/path', 'a b'],
    },
    PRIVATE_GRAPHDB_GRPC_URL: {
      good: [
        ['graph:9080', ['graph:9080']],
        ['[::1]:9080', ['[::1]:9080']],
        ['graph:9080,other:9080', ['graph:9080', 'other:9080']],
      ],
      bad: ['graph', 'http://graph:9080', 'graph:99999', 'graph:9080/path', 'graph:9080,other', ':9080', ','],
    },
    PRIVATE_GRAPHDB_CA_PATH: text(1024),
    PRIVATE_GRAPHDB_USER: text(255),
    PRIVATE_GRAPHDB_PASSWORD: password,
    PRIVATE_GRAPHDB_TOKEN: password,
    BUS_SERVERS: busServers,
    PUBLIC_BUS_SERVERS: busServers,
    BUS_CA_PATH: text(1024),
    BUS_CALLOUT_SEED: seed('SU'),
    BUS_SYSTEM_SEED: seed('SU'),
    BUS_ISSUER_SEED: seed('SA'),
    BUS_PERSISTENT_MESSAGING: boolean,
    ENCRYPTION_KEY: hexSecret,
    ENCRYPTION_KEY_PREVIOUS: hexSecret,
    JWT_PRIVATE_KEY_PATH: text(1024),
    JWT_PUBLIC_KEY_PATH: text(1024),
    JWT_PREVIOUS_PUBLIC_KEY_PATH: text(1024),
    JWT_ISSUER: text(255),
    JWT_ACCESS_TOKEN_TTL: range(1, year),
    JWT_REFRESH_TOKEN_TTL: range(1, year),
    IDENTITY_KEY_USAGE_THROTTLE_SECONDS: range(0, year),
    LOG_LEVEL: logLevels,
    CORS_ORIGINS: origins,
    TRUSTED_PROXIES: addressBlocks,
    SIGN_IN_PASSWORDS: boolean,
    SIGN_IN_PROVIDER_NAME: text(64),
    SIGN_IN_PROVIDER_ISSUER: {
      good: [
        ['https://login.example.com', 'https://login.example.com'],
        ['https://login.example.com/o/svc/', 'https://login.example.com/o/svc/'],
      ],
      bad: url.bad,
    },
    SIGN_IN_PROVIDER_CLIENT_ID: text(255),
    SIGN_IN_PROVIDER_CLIENT_SECRET: password,
    PRIVATE_MCP_URL: url,
    PUBLIC_BACKEND_URL: url,
    PUBLIC_FRONTEND_URL: url,
    PUBLIC_MCP_URL: url,
    EMAIL_PROVIDER: choices('log', 'provider_a', 'provider_b', 'smtp'),
    PROVIDER_A_API_KEY: providerKey,
    PROVIDER_B_API_KEY: providerKey,
    PROVIDER_A_URL: url,
    PROVIDER_B_URL: url,
    EMAIL_FROM: text(320),
    EMAIL_FROM_NAME: text(255),
    PROVIDER_A_TIMEOUT_SECONDS: range(1, 600),
    SMTP_HOST: text(255),
    SMTP_PORT: portRow,
    SMTP_TLS: choices('starttls', 'implicit', 'none'),
    SMTP_CA_PATH: text(1024),
    SMTP_USER: text(320),
    SMTP_PASSWORD: password,
    FILES_DIR: text(1024),
    SVC_MAX_FILE_SIZE_MB: range(1, 10_000),
    INSTALLATION_DIR: text(1024),
    HISTORY_DAYS: range(1, 36_500),
    MCP_SERVER_COMMANDS: text(4096),
    MCP_SERVER_ALLOWED_ADDRESSES: addressBlocks,
    BIND_HOST: text(255),
    NODE_ENV: environment,
    METRICS_PORT: portRow,
  },
  frontend: {
    BUILD_PUBLIC_BACKEND_URL: url,
    PUBLIC_BACKEND_URL: url,
    PUBLIC_MCP_URL: url,
    PUBLIC_MCP_KEYS_URL: url,
    PORT: portRow,
    LOG_LEVEL: logLevels,
    BIND_HOST: text(255),
    NODE_ENV: environment,
    METRICS_PORT: portRow,
  },
  runtime: {
    RUNTIME_KEY: platformKey('RTK_'),
    SYSTEM_KEY: platformKey('SYK_'),
    RUNTIME_NAME: text(64),
    BUS_SERVERS: busServers,
    BUS_CA_PATH: text(1024),
    REMOTE_PORT: portRow,
    LOG_LEVEL: logLevels,
    LOG_LEVELS: logRules,
    FORWARD_STDERR: boolean,
    HEARTBEAT_INTERVAL: range(50, 60_000),
    PRIVATE_MCP_URL: url,
    SVC_WORKING_DIR: text(1024),
    SVC_ALLOWED_PATHS: {
      good: [
        ['/a', ['/a']],
        ['/a/b:/c d', ['/a/b', '/c d']],
      ],
      bad: ['relative', '/a:b', './a', '~'],
    },
    MCP_SERVER_SANDBOX: choices('auto', 'bwrap', 'container', 'none-for-everybody'),
    MCP_SERVER_MEMBER_FOLDERS: {
      good: [['/srv/a:/srv/b', ['/srv/a', '/srv/b']]],
      bad: ['srv', '/a:b', '~'],
    },
    MCP_SERVER_ALLOWED_ADDRESSES: addressBlocks,
    MCP_SERVER_DOCKER_SOCKET: text(1024),
    MCP_SERVER_IMAGE: text(255),
    MCP_SERVER_MEMORY_MAX_MB: range(64, 1_048_576),
    MCP_SERVER_START_TIMEOUT_SECONDS: range(1, 1800),
    MCP_SERVER_CALL_TIMEOUT_SECONDS: range(1, 1800),
    MCP_SERVER_HIDDEN_PATHS: {
      good: [['/a/secrets:/a/svc.yaml', ['/a/secrets', '/a/svc.yaml']]],
      bad: ['secrets', '/a:b', '~'],
    },
    SVC_MAX_FILE_SIZE_MB: range(1, 10_000),
    SVC_GC_INTERVAL_MS: range(100, dayMs),
    SVC_GC_MAX_AGE_MS: range(100, 365 * dayMs),
    SVC_ASSET_CACHE_MAX_AGE_MS: range(100, 365 * dayMs),
    BIND_HOST: text(255),
    NODE_ENV: environment,
    METRICS_PORT: portRow,
  },
  'remote-mcp': {
    SYSTEM_KEY: platformKey('SYK_'),
    BUS_SERVERS: busServers,
    BUS_CA_PATH: text(1024),
    BUS_PERSISTENT_MESSAGING: boolean,
    REMOTE_PORT: portRow,
    PRIVATE_BACKEND_URL: url,
    PUBLIC_MCP_URL: url,
    PUBLIC_MCP_KEYS_URL: url,
    PUBLIC_BACKEND_URL: url,
    LOG_LEVEL: logLevels,
    LOG_LEVELS: logRules,
    SVC_ALLOWED_ORIGINS: origins,
    SVC_PREVENT_DNS_REBINDING: boolean,
    SVC_SESSION_IDLE_TIMEOUT_MS: range(100, 30 * dayMs),
    MCP_SERVER_CALL_TIMEOUT_SECONDS: range(1, 1800),
    BIND_HOST: text(255),
    NODE_ENV: environment,
    METRICS_PORT: portRow,
  },
};

/** Without an address, the bus is NATS. */
const seeds: EnvRecord = {
  BUS_CALLOUT_SEED: `SU${'A2'.repeat(28)}`,
  BUS_SYSTEM_SEED: `SU${'A2'.repeat(28)}`,
  BUS_ISSUER_SEED: `SA${'A2'.repeat(28)}`,
};

/** The minimal environment of each service. */
const least: { readonly [Service in ServiceName]: EnvRecord } = {
  backend: { ENCRYPTION_KEY: hex, JWT_PRIVATE_KEY_PATH: '/jwt.pem', JWT_PUBLIC_KEY_PATH: '/jwt.pub', ...seeds },
  frontend: {},
  runtime: { RUNTIME_KEY: key('RTK_') },
  'remote-mcp': { SYSTEM_KEY: key('SYK_'), REMOTE_PORT: '3001' },
};

/** Other variables that a variable needs, so that it alone decides the result. */
const companions: { readonly [Variable in string]?: EnvRecord } = {
  'runtime SYSTEM_KEY': { RUNTIME_KEY: '', RUNTIME_NAME: 'cloud' },
  'runtime RUNTIME_NAME': { RUNTIME_KEY: '', SYSTEM_KEY: key('SYK_') },
  'backend EMAIL_PROVIDER': {
    PROVIDER_A_API_KEY: 'a',
    PROVIDER_A_URL: 'https://a.example.com',
    PROVIDER_B_API_KEY: 'b',
    PROVIDER_B_URL: 'https://b.example.com',
    EMAIL_FROM: 'svc@example.com',
    SMTP_HOST: 'mail.example.com',
  },
  'runtime MCP_SERVER_SANDBOX': { MCP_SERVER_IMAGE: 'node:24.21.0-bookworm-slim' },
  'backend PRIVATE_GRAPHDB_USER': { PRIVATE_GRAPHDB_PASSWORD: 'word' },
  'backend PRIVATE_GRAPHDB_PASSWORD': { PRIVATE_GRAPHDB_USER: 'groot' },
  'backend SMTP_USER': { SMTP_PASSWORD: 'word' },
  'backend SMTP_PASSWORD': { SMTP_USER: 'svc' },
  'backend SIGN_IN_PROVIDER_ISSUER': { SIGN_IN_PROVIDER_CLIENT_ID: 'svc', SIGN_IN_PROVIDER_CLIENT_SECRET: 'word' },
  'backend SIGN_IN_PROVIDER_CLIENT_ID': {
    SIGN_IN_PROVIDER_ISSUER: 'https://login.example.com',
    SIGN_IN_PROVIDER_CLIENT_SECRET: 'word',
  },
  'backend SIGN_IN_PROVIDER_CLIENT_SECRET': {
    SIGN_IN_PROVIDER_ISSUER: 'https://login.example.com',
    SIGN_IN_PROVIDER_CLIENT_ID: 'svc',
  },
  'backend NODE_ENV': { PUBLIC_BACKEND_URL: 'http://localhost:3000' },
};

const services: readonly ServiceName[] = ['backend', 'frontend', 'runtime', 'remote-mcp'];
const every = services.flatMap((service) =>
  Object.entries<Variable<unknown>>(variables[service]).map(([name, entry]) => {
    const row = Object.entries<Row>(rows[service]).find(([other]) => other === name)?.[1] ?? { good: [], bad: [] };
    const others = { ...least[service], ...companions[`${service} ${name}`] };
    return { service, name, entry, row, others };
  }),
);

const named = (problems: readonly { readonly variable: string }[]) => problems.map((problem) => problem.variable);

describe.each(every)('$name of $service', ({ service, name, entry, row, others }) => {
  it.each(row.good)('accepts %j', (raw, value) => {
    const { env, problems } = checkEnv(service, { ...others, [name]: raw });
    expect(problems).toEqual([]);
    const parsed: unknown = Object.entries(env).find(([other]) => other === name)?.[1];
    expect(parsed).toEqual(value);
    if (value instanceof Secret) expect(parsed instanceof Secret && parsed.reveal()).toBe(raw);
  });

  it.each(row.bad)('refuses %j', (raw) => {
    const { problems } = checkEnv(service, { ...others, [name]: raw });
    expect(named(problems)).toEqual([name]);
    const message = describeProblems(service, problems);
    expect(message).toContain(entry.rule);
    if (entry.secret) expect(message).not.toContain(raw);
    else expect(message).toContain(`"${raw.slice(0, 80)}"`);
  });

  it.each([undefined, ''])('uses the value of the table when it is %j', (raw) => {
    const { env, problems } = checkEnv(service, { ...others, [name]: raw });
    if (entry.required || name in seeds) expect(named(problems)).toEqual([name]);
    const parsed: unknown = Object.entries(env).find(([other]) => other === name)?.[1];
    expect(parsed).toEqual(entry.default === undefined ? undefined : entry.parse(entry.default));
  });
});

/** Part 8 of the specification: the defaults. */
const specified: { readonly [Service in ServiceName]: Readonly<Record<string, unknown>> } = {
  backend: {
    PORT: 3000,
    PRIVATE_GRAPHDB_URL: 'localhost:8080',
    BUS_SERVERS: ['localhost:4222'],
    PUBLIC_BUS_SERVERS: undefined,
    JWT_ISSUER: 'service-platform',
    JWT_ACCESS_TOKEN_TTL: 900,
    JWT_REFRESH_TOKEN_TTL: 604_800,
    IDENTITY_KEY_USAGE_THROTTLE_SECONDS: 60,
    LOG_LEVEL: 'info',
    CORS_ORIGINS: ['http://localhost:8888', 'http://localhost:3000'],
    PRIVATE_MCP_URL: 'http://localhost:3001/mcp',
    PUBLIC_BACKEND_URL: 'http://localhost:3000',
    PUBLIC_FRONTEND_URL: 'http://localhost:8888',
    PUBLIC_MCP_URL: 'http://localhost:3001/mcp',
    EMAIL_PROVIDER: 'log',
    PROVIDER_A_API_KEY: undefined,
    PROVIDER_B_API_KEY: undefined,
    EMAIL_FROM: undefined,
    EMAIL_FROM_NAME: 'The Service Team',
    PROVIDER_A_TIMEOUT_SECONDS: 10,
  },
  frontend: { BUILD_PUBLIC_BACKEND_URL: 'http://localhost:3000', PUBLIC_BACKEND_URL: undefined },
  runtime: {
    SYSTEM_KEY: undefined,
    RUNTIME_NAME: undefined,
    BUS_SERVERS: ['localhost:4222'],
    REMOTE_PORT: undefined,
    LOG_LEVEL: 'info',
    LOG_LEVELS: undefined,
    FORWARD_STDERR: false,
    HEARTBEAT_INTERVAL: 5000,
    // Unset means the address that the backend advertises.
    PRIVATE_MCP_URL: undefined,
    SVC_WORKING_DIR: '/tmp/skilder-work',
    SVC_ALLOWED_PATHS: undefined,
    SVC_MAX_FILE_SIZE_MB: 10,
    SVC_GC_INTERVAL_MS: 60_000,
    SVC_GC_MAX_AGE_MS: 300_000,
    SVC_ASSET_CACHE_MAX_AGE_MS: 3_600_000,
  },
  'remote-mcp': {
    BUS_SERVERS: ['localhost:4222'],
    PRIVATE_BACKEND_URL: undefined,
    PUBLIC_MCP_URL: 'http://localhost:3001/mcp',
    PUBLIC_BACKEND_URL: 'http://localhost:3000',
    LOG_LEVEL: 'info',
    LOG_LEVELS: undefined,
    SVC_ALLOWED_ORIGINS: undefined,
    SVC_PREVENT_DNS_REBINDING: true,
    SVC_SESSION_IDLE_TIMEOUT_MS: 300_000,
  },
};

test.each(services)('%s has the defaults of the specification', (service) => {
  const { env, problems } = checkEnv(service, least[service]);
  expect(problems).toEqual([]);
  expect(env).toMatchObject(specified[service]);
  const required = Object.keys(least[service]);
  const ours = Object.entries<Variable<unknown>>(variables[service]).flatMap(([name, entry]) =>
    entry.source === 'specification' && !required.includes(name) ? [name] : [],
  );
  expect(Object.keys(specified[service]).sort()).toEqual(ours.sort());
});

test('the ports of the infrastructure have the defaults of the specification', () => {
  const values = Object.entries<Variable<unknown>>(infrastructure).map(([name, entry]) => [
    name,
    entry.parse(entry.default ?? ''),
  ]);
  expect(Object.fromEntries(values)).toEqual({
    GRAPHDB_HTTP_PORT: 8080,
    GRAPHDB_GRPC_PORT: 9080,
    GRAPHDB_ZERO_PORT: 5080,
    BUS_PORT: 4222,
    BUS_HTTP_PORT: 8222,
    BUS_PERSISTENT_MESSAGING: true,
  });
});
