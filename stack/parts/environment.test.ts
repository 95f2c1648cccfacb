import { describe, expect, test } from 'vitest';
import { changesBetween } from '../plan/differences.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { placeOf } from '../settings/settings.ts';
import { installationIn } from '../state/installation.ts';
import { checkEnvironment, withoutEffect } from './environment.ts';
import { servicesOf } from './parts.ts';
import { planOf } from './test/planned.ts';

const installation = installationIn('/srv/svc');
const secrets = secretFilesOf(installation);
const secretTexts: Readonly<Record<string, string>> = {
  [secrets.encryptionKey]: 'ab'.repeat(32),
  [secrets.remoteMcpKey]: `SYK_${'a'.repeat(49)}`,
  [secrets.runtimeKey]: `SYK_${'b'.repeat(49)}`,
  [secrets.mailKey]: 'mail-key',
  [secrets.signInProvider]: 'provider-secret',
};
const readSecret = (file: string) => secretTexts[file] ?? '';

/** The variables of the four services. */
function environmentFor(yaml: string, at = installation): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return Object.fromEntries(servicesOf(planOf(yaml, at).parts).map(({ service, part }) => [service, part.variables]));
}

test('a folder whose name looks encoded is still that folder', () => {
  const { backend } = environmentFor('', { ...installation, dataDir: '/srv/p%41 ü/data' });
  const url = backend?.PRIVATE_GRAPHDB_URL ?? '';
  expect(decodeURIComponent(url.replace('file://', ''))).toBe('/srv/p%41 ü/data/graph.sqlite');
});

test('with nothing chosen, these and no others', () => {
  const every = { NODE_ENV: 'production', BIND_HOST: '127.0.0.1', LOG_LEVEL: 'info' };
  const onBus = { ...every, BUS_SERVERS: 'inproc:' };
  const addresses = { PUBLIC_BACKEND_URL: 'http://localhost:3000', PUBLIC_MCP_URL: 'http://localhost:3001/mcp' };
  expect(environmentFor('')).toEqual({
    backend: {
      ...onBus,
      ...addresses,
      PORT: '3000',
      PRIVATE_GRAPHDB_URL: 'file:///srv/svc/data/graph.sqlite',
      ENCRYPTION_KEY_FILE: '/srv/svc/secrets/encryption.key',
      JWT_PRIVATE_KEY_PATH: '/srv/svc/secrets/jwt-private.pem',
      JWT_PUBLIC_KEY_PATH: '/srv/svc/secrets/jwt-public.pem',
      PUBLIC_FRONTEND_URL: 'http://localhost:8888',
      CORS_ORIGINS: 'http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888',
      MCP_SERVER_COMMANDS: 'any',
      SVC_MAX_FILE_SIZE_MB: '10',
      HISTORY_DAYS: '365',
      FILES_DIR: '/srv/svc/data/blobs',
      INSTALLATION_DIR: '/srv/svc',
      SIGN_IN_PASSWORDS: 'true',
      EMAIL_PROVIDER: 'log',
      EMAIL_FROM_NAME: 'The Service Team',
      PROVIDER_A_TIMEOUT_SECONDS: '10',
    },
    'remote-mcp': {
      ...onBus,
      ...addresses,
      REMOTE_PORT: '3001',
      SYSTEM_KEY_FILE: '/srv/svc/secrets/system-remote-mcp.key',
      PRIVATE_BACKEND_URL: 'http://127.0.0.1:3000',
      SVC_ALLOWED_ORIGINS: 'http://localhost:8888,http://127.0.0.1:8888',
      SVC_PREVENT_DNS_REBINDING: 'true',
      SVC_SESSION_IDLE_TIMEOUT_MS: '300000',
      MCP_SERVER_CALL_TIMEOUT_SECONDS: '60',
    },
    runtime: {
      ...onBus,
      MCP_SERVER_START_TIMEOUT_SECONDS: '60',
      MCP_SERVER_CALL_TIMEOUT_SECONDS: '60',
      REMOTE_PORT: '3003',
      SYSTEM_KEY_FILE: '/srv/svc/secrets/system-runtime.key',
      RUNTIME_NAME: 'cloud',
      FORWARD_STDERR: 'true',
      SVC_WORKING_DIR: '/srv/svc/data/runtime',
      MCP_SERVER_HIDDEN_PATHS: '/srv/svc/secrets:/srv/svc/data:/srv/svc/state:/srv/svc/logs:/srv/svc/svc.yaml',
      SVC_MAX_FILE_SIZE_MB: '10',
    },
    frontend: { ...every, ...addresses, PORT: '8888' },
  });
});

const everyChoice = `
bind: 0.0.0.0
trustedProxies: [192.168.1.20, 10.0.0.0/8]
publicUrls: { backend: https://api.example.com, mcp: https://mcp.example.com/mcp, frontend: https://app.example.com, keys: https://keys.example.com/mcp }
origins: { browsers: [https://other.example.com], agents: [https://a.example.com, https://b.example.com], preventDnsRebinding: false }
runtime: { name: big, commands: [npx, uvx], sandbox: container, allowedPaths: [/a, /b], memberFolders: [/m], allowedAddresses: [10.0.0.0/8, '::1'], dockerSocket: /run/user/1000/docker.sock }
images: { base: "our-base:1.2.3" }
limits: { sessionIdleTimeoutMs: 1000, fileSizeMaxMb: 5, memoryMaxMb: { mcp-server: 300 } }
signIn: { passwords: false, provider: { name: Acme, issuer: https://login.example.com/, clientId: svc } }
mail: { provider: provider_b, from: a@example.com, fromName: Us, url: https://mail.example.com, timeoutSeconds: 3 }
logs: { level: debug, levels: 'bus=warn' }
environment: { runtime: { HEARTBEAT_INTERVAL: 1000 }, backend: { JWT_ISSUER: me } }
`;

test('every choice reaches its services, and only these', () => {
  const { parts } = planOf(everyChoice);
  const usual = environmentFor('');
  const changes = servicesOf(parts).flatMap(({ service, part }) =>
    changesBetween(usual[service] ?? {}, part.variables).map((change) => `${service} ${change}`),
  );
  expect(changes).toEqual([
    'backend BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'backend CORS_ORIGINS: http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888 → https://other.example.com',
    'backend EMAIL_FROM: unset → a@example.com',
    'backend EMAIL_FROM_NAME: The Service Team → Us',
    'backend EMAIL_PROVIDER: log → provider_b',
    'backend JWT_ISSUER: unset → me',
    'backend LOG_LEVEL: info → debug',
    'backend MCP_SERVER_ALLOWED_ADDRESSES: unset → 10.0.0.0/8,::1',
    'backend MCP_SERVER_COMMANDS: any → npx,uvx',
    'backend PROVIDER_A_TIMEOUT_SECONDS: 10 → 3',
    'backend PROVIDER_B_API_KEY_FILE: unset → /srv/svc/secrets/mail.key',
    'backend PROVIDER_B_URL: unset → https://mail.example.com',
    'backend PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'backend PUBLIC_FRONTEND_URL: http://localhost:8888 → https://app.example.com',
    'backend PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
    'backend SIGN_IN_PASSWORDS: true → false',
    'backend SIGN_IN_PROVIDER_CLIENT_ID: unset → svc',
    'backend SIGN_IN_PROVIDER_CLIENT_SECRET_FILE: unset → /srv/svc/secrets/sign-in-provider.key',
    'backend SIGN_IN_PROVIDER_ISSUER: unset → https://login.example.com/',
    'backend SIGN_IN_PROVIDER_NAME: unset → Acme',
    'backend SVC_MAX_FILE_SIZE_MB: 10 → 5',
    'backend TRUSTED_PROXIES: unset → 192.168.1.20,10.0.0.0/8',
    'remote-mcp BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'remote-mcp LOG_LEVEL: info → debug',
    'remote-mcp LOG_LEVELS: unset → bus=warn',
    'remote-mcp PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'remote-mcp PUBLIC_MCP_KEYS_URL: unset → https://keys.example.com/mcp',
    'remote-mcp PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
    'remote-mcp SVC_ALLOWED_ORIGINS: http://localhost:8888,http://127.0.0.1:8888 → https://a.example.com,https://b.example.com,https://app.example.com,http://127.0.0.1:8888',
    'remote-mcp SVC_PREVENT_DNS_REBINDING: true → false',
    'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 1000',
    'runtime BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'runtime HEARTBEAT_INTERVAL: unset → 1000',
    'runtime LOG_LEVEL: info → debug',
    'runtime LOG_LEVELS: unset → bus=warn',
    'runtime MCP_SERVER_ALLOWED_ADDRESSES: unset → 10.0.0.0/8,::1',
    'runtime MCP_SERVER_DOCKER_SOCKET: unset → /run/user/1000/docker.sock',
    'runtime MCP_SERVER_IMAGE: unset → our-base:1.2.3',
    'runtime MCP_SERVER_MEMBER_FOLDERS: unset → /m',
    'runtime MCP_SERVER_MEMORY_MAX_MB: unset → 300',
    'runtime MCP_SERVER_SANDBOX: unset → container',
    'runtime RUNTIME_NAME: cloud → big',
    'runtime SVC_ALLOWED_PATHS: unset → /a:/b',
    'runtime SVC_MAX_FILE_SIZE_MB: 10 → 5',
    'frontend BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'frontend LOG_LEVEL: info → debug',
    'frontend PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'frontend PUBLIC_MCP_KEYS_URL: unset → https://keys.example.com/mcp',
    'frontend PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
  ]);
  expect(() => checkEnvironment(parts, readSecret)).not.toThrow();
});

const movedPorts = 'ports: { backend: 4000, remote-mcp: 4001, runtime: 4003, frontend: 4888 }';

test('a changed port changes every address with it', () => {
  const moved = environmentFor(movedPorts);
  expect(JSON.stringify(moved)).not.toMatch(/[:"](3000|3001|3003|8888)\b/);
  expect(moved.backend?.PUBLIC_MCP_URL).toBe('http://localhost:4001/mcp');
});

test('an installation whose folder has a colon in its name cannot be hidden, and reports it', () => {
  const odd = { ...installation, dir: '/srv/a:b', secretsDir: '/srv/a:b/secrets' };
  const { parts } = planOf('runtime: { sandbox: bwrap }', odd);
  expect(() => checkEnvironment(parts, readSecret)).toThrow(
    /MCP_SERVER_HIDDEN_PATHS of runtime must be a colon-separated/,
  );
});

test.each([
  ['with nothing in front, none', '', undefined],
  // The platform's own proxy proves itself by a header, whatever its address.
  ['with one host name, none', 'topology: distributed\npublic: { host: a.example.com }', undefined],
  [
    'with a shared address, the proxies in svc.yaml',
    'topology: distributed\ngraph: dgraph\nreplicas: { backend: 2 }\ntrustedProxies: [192.0.2.1]',
    '192.0.2.1',
  ],
  ['in containers, none', 'topology: distributed\nengine: docker\npublic: { host: a.example.com }', undefined],
])('%s, may say who the client is', (_what, yaml, proxies) => {
  expect(environmentFor(yaml).backend?.TRUSTED_PROXIES).toBe(proxies);
});

describe('mail by smtp', () => {
  const mailVariables = (smtp: string) =>
    Object.entries(
      environmentFor(`mail: { provider: smtp, from: a@example.com, smtp: { host: mail.example.com, ${smtp} } }`)
        .backend ?? {},
    ).filter(([name]) => /^(SMTP|EMAIL|PROVIDER_B)_/.test(name));
  const usual = {
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'a@example.com',
    EMAIL_FROM_NAME: 'The Service Team',
    SMTP_HOST: 'mail.example.com',
    SMTP_PORT: '587',
    SMTP_TLS: 'starttls',
  };
  const key = '/srv/svc/secrets/mail.key';

  test.each([
    ['no login', '', {}],
    ['a login', 'user: us', { SMTP_USER: 'us', SMTP_PASSWORD_FILE: key }],
    [
      'all of its settings',
      'port: 465, tls: implicit, user: us, ca: ca.pem',
      {
        ...{ SMTP_PORT: '465', SMTP_TLS: 'implicit', SMTP_USER: 'us', SMTP_PASSWORD_FILE: key },
        SMTP_CA_PATH: '/srv/svc/ca.pem',
      },
    ],
  ])('with %s', (_, smtp, changes) => {
    expect(Object.fromEntries(mailVariables(smtp))).toEqual({ ...usual, ...changes });
    const yaml = `mail: { provider: smtp, from: a@example.com, smtp: { host: mail.example.com, ${smtp} } }`;
    expect(() => checkEnvironment(planOf(yaml).parts, readSecret)).not.toThrow();
  });
});

describe('the graph of the backend is', () => {
  const dgraph = 'topology: distributed\ngraph: dgraph\n';
  const graphVariables = (yaml: string) =>
    Object.entries(environmentFor(`${dgraph}${yaml}`).backend ?? {}).flatMap(([name, value]) =>
      name.startsWith('PRIVATE_GRAPHDB_') ? [`${name.slice('PRIVATE_GRAPHDB_'.length)} ${value}`] : [],
    );
  const inSecrets = [
    'PASSWORD_FILE /srv/svc/secrets/graphdb-password.key',
    'TOKEN_FILE /srv/svc/secrets/graphdb-token.key',
  ];

  test.each([
    [
      "the platform's own Dgraph, as its user there",
      '',
      [
        ...['URL https://127.0.0.1:8080', 'CA_PATH /srv/svc/secrets/graphdb-nodes.crt', 'GRPC_URL 127.0.0.1:9080'],
        ...['USER svc', ...inSecrets],
      ],
    ],
    [
      'an external bus gets the settings of svc.yaml and nothing more',
      'graphdb: { url: "http://db:8080" }\n',
      ['URL http://db:8080'],
    ],
    [
      'an external one with all of its settings',
      'graphdb: { url: "https://db:8080", grpc: [db:9080, other:9080], ca: db.pem, user: us, token: true }\n',
      [...['URL https://db:8080', 'GRPC_URL db:9080,other:9080', 'CA_PATH /srv/svc/db.pem', 'USER us', ...inSecrets]],
    ],
  ])('%s', (_, yaml, expected) => expect(graphVariables(yaml)).toEqual(expected));
});

test('an empty list of commands means none', () => {
  expect(environmentFor('runtime: { commands: [] }').backend?.MCP_SERVER_COMMANDS).toBe('none');
});

test('every variable that the stack decides has a recorded place, so that it cannot be set twice', () => {
  const distributed = 'topology: distributed\ngraph: dgraph\n';
  const external = 'bus: { servers: [tls://bus.example.com:4222], ca: ca.pem }\n';
  const graph = 'graphdb: { url: "https://db:8080", grpc: [db:9080], ca: db.pem, user: us, token: true }\n';
  const open = 'bus: { port: 4222, public: { servers: [nats://127.0.0.1:4222] } }\n';
  const settings = everyChoice.replace(/^environment: .*$/m, '');
  const bySmtp = 'mail: { provider: smtp, from: a@b.example, smtp: { host: m.example, user: us, ca: ca.pem } }';
  const chosen = [settings, bySmtp, `${distributed}${external}${graph}`, `${distributed}${open}`];
  const parts = chosen.flatMap((yaml) => planOf(yaml).parts);
  const unplaced = servicesOf(parts).flatMap(({ service, part }) => {
    const decided = Object.keys(part.variables).map((name) => name.replace(/_FILE$/, ''));
    return decided.filter((name) => placeOf(service, name) === undefined);
  });
  expect(unplaced).toEqual([]);
});

describe('settings without effect are reported', () => {
  const noticesOf = (yaml: string) => withoutEffect(planOf(yaml).parts);

  test('for a setting, and for a variable', () => {
    const yaml =
      'runtime: { allowedPaths: [/a], sandbox: none-for-everybody }\nenvironment: { frontend: { METRICS_PORT: 9100 } }\n';
    expect(noticesOf(yaml)).toEqual([
      'runtime: SVC_ALLOWED_PATHS has no effect without MCP_SERVER_SANDBOX=auto or bwrap or container.',
      'frontend: METRICS_PORT is not used yet: it comes with metrics and traces.',
    ]);
  });

  test('for an older file without sandboxes, which an upgrade does not apply to members', () => {
    const { parts } = planOf('runtime: { sandbox: none }');
    expect(withoutEffect(parts)).toEqual([
      expect.stringMatching(/^runtime: runtime\.sandbox: none .* is read as auto: .*none-for-everybody/),
    ]);
    expect(() => checkEnvironment(parts, readSecret)).not.toThrow();
    const hidden = ['none', 'none-for-everybody'].map(
      (sandbox) => environmentFor(`runtime: { sandbox: ${sandbox} }`).runtime?.MCP_SERVER_HIDDEN_PATHS,
    );
    expect(hidden).toEqual([expect.stringContaining('/srv/svc/secrets'), undefined]);
  });

  test("and not for folders that are mounted into the runtime's container, defaults and moved ports", () => {
    const contained = 'topology: distributed\nengine: docker\nruntime: { allowedPaths: [/a] }\n';
    expect([contained, '', movedPorts].flatMap(noticesOf)).toEqual([]);
  });
});

test('a value that a service would refuse is refused before anything starts: the development key', () => {
  const withZeros = (file: string) => (file === secrets.encryptionKey ? '0'.repeat(64) : readSecret(file));
  expect(() => checkEnvironment(planOf('').parts, withZeros)).toThrow(
    /secrets\/encryption\.key: ENCRYPTION_KEY of backend must not be the development key/,
  );
});
