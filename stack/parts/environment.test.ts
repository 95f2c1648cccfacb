import { describe, expect, test } from 'vitest';
import type { ServiceName } from '../../services/contracts/env/variables.ts';
import { planFor } from '../engines/plan-of.ts';
import { changesBetween } from '../plan/differences.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { usualPorts } from '../settings/ports.ts';
import { placeOf } from '../settings/settings.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { checkEnvironment, withoutEffect } from './environment.ts';
import type { Part } from './part.ts';
import { firstOf, servicesOf } from './parts.ts';

const installation = installationIn('/srv/svc');
const secrets = secretFilesOf(installation);
const secretTexts: Readonly<Record<string, string>> = {
  [secrets.encryptionKey]: 'ab'.repeat(32),
  [secrets.remoteMcpKey]: `SYK_${'a'.repeat(49)}`,
  [secrets.runtimeKey]: `SYK_${'b'.repeat(49)}`,
  [secrets.mailKey]: 'mail-key',
};
const readSecret = (file: string) => secretTexts[file] ?? '';

function partsFor(yaml: string, ports = usualPorts): readonly Part[] {
  return planFor(installation, definitionOf(yaml), ports).parts;
}

function environmentFor(yaml: string, ports = usualPorts) {
  const of = (service: ServiceName) => firstOf(service, partsFor(yaml, ports)).variables;
  return { backend: of('backend'), 'remote-mcp': of('remote-mcp'), runtime: of('runtime'), frontend: of('frontend') };
}

test('a folder whose name looks encoded is still that folder', () => {
  const odd = { ...installation, dataDir: '/srv/p%41 ü/data' };
  const { parts } = planFor(odd, definitionOf(''), usualPorts);
  const url = firstOf('backend', parts).variables.PRIVATE_GRAPHDB_URL ?? '';
  expect(decodeURIComponent(url.replace('file://', ''))).toBe('/srv/p%41 ü/data/graph.sqlite');
});

test('with nothing chosen, these and no others', () => {
  expect(environmentFor('')).toEqual({
    backend: {
      NODE_ENV: 'production',
      BIND_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      BUS_SERVERS: 'inproc:',
      PORT: '3000',
      PRIVATE_GRAPHDB_URL: 'file:///srv/svc/data/graph.sqlite',
      ENCRYPTION_KEY_FILE: '/srv/svc/secrets/encryption.key',
      JWT_PRIVATE_KEY_PATH: '/srv/svc/secrets/jwt-private.pem',
      JWT_PUBLIC_KEY_PATH: '/srv/svc/secrets/jwt-public.pem',
      PUBLIC_BACKEND_URL: 'http://localhost:3000',
      PUBLIC_FRONTEND_URL: 'http://localhost:8888',
      PUBLIC_MCP_URL: 'http://localhost:3001/mcp',
      CORS_ORIGINS: 'http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888',
      MCP_SERVER_COMMANDS: 'any',
      SVC_MAX_FILE_SIZE_MB: '10',
      HISTORY_DAYS: '365',
      FILES_DIR: '/srv/svc/data/blobs',
      EMAIL_PROVIDER: 'log',
      EMAIL_FROM_NAME: 'The Service Team',
      PROVIDER_A_TIMEOUT_SECONDS: '10',
    },
    'remote-mcp': {
      NODE_ENV: 'production',
      BIND_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      BUS_SERVERS: 'inproc:',
      REMOTE_PORT: '3001',
      SYSTEM_KEY_FILE: '/srv/svc/secrets/system-remote-mcp.key',
      PRIVATE_BACKEND_URL: 'http://127.0.0.1:3000',
      PUBLIC_BACKEND_URL: 'http://localhost:3000',
      PUBLIC_MCP_URL: 'http://localhost:3001/mcp',
      SVC_PREVENT_DNS_REBINDING: 'true',
      SVC_SESSION_IDLE_TIMEOUT_MS: '300000',
    },
    runtime: {
      NODE_ENV: 'production',
      BIND_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      BUS_SERVERS: 'inproc:',
      REMOTE_PORT: '3003',
      SYSTEM_KEY_FILE: '/srv/svc/secrets/system-runtime.key',
      RUNTIME_NAME: 'cloud',
      SVC_WORKING_DIR: '/srv/svc/data/runtime',
      MCP_SERVER_HIDDEN_PATHS: '/srv/svc/secrets:/srv/svc/data:/srv/svc/state:/srv/svc/logs:/srv/svc/svc.yaml',
      SVC_MAX_FILE_SIZE_MB: '10',
    },
    frontend: {
      NODE_ENV: 'production',
      BIND_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      PORT: '8888',
      PUBLIC_BACKEND_URL: 'http://localhost:3000',
      PUBLIC_MCP_URL: 'http://localhost:3001/mcp',
    },
  });
});

test('every choice reaches its services, and only these', () => {
  const chosen = partsFor(`
bind: 0.0.0.0
publicUrls: { backend: https://api.example.com, mcp: https://mcp.example.com/mcp, frontend: https://app.example.com }
origins: { browsers: [https://other.example.com], agents: [https://a.example.com, https://b.example.com], preventDnsRebinding: false }
runtime: { name: big, commands: [npx, uvx], sandbox: bwrap, allowedPaths: [/a, /b], memberFolders: [/m], allowedAddresses: [10.0.0.0/8, '::1'] }
limits: { sessionIdleTimeoutMs: 1000, fileSizeMaxMb: 5 }
mail: { provider: provider_b, from: a@example.com, fromName: Us, url: https://mail.example.com, timeoutSeconds: 3 }
logs: { level: debug, levels: 'bus=warn' }
environment: { runtime: { HEARTBEAT_INTERVAL: 1000 }, backend: { JWT_ISSUER: me } }
`);
  const told = servicesOf(chosen).flatMap(({ service, part }) =>
    changesBetween(environmentFor('')[service], part.variables).map((change) => `${service} ${change}`),
  );
  expect(told).toEqual([
    'backend BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'backend CORS_ORIGINS: http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888 → https://other.example.com',
    'backend EMAIL_FROM: unset → a@example.com',
    'backend EMAIL_FROM_NAME: The Service Team → Us',
    'backend EMAIL_PROVIDER: log → provider_b',
    'backend JWT_ISSUER: unset → me',
    'backend LOG_LEVEL: info → debug',
    'backend MCP_SERVER_COMMANDS: any → npx,uvx',
    'backend PROVIDER_A_TIMEOUT_SECONDS: 10 → 3',
    'backend PROVIDER_B_API_KEY_FILE: unset → /srv/svc/secrets/mail.key',
    'backend PROVIDER_B_URL: unset → https://mail.example.com',
    'backend PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'backend PUBLIC_FRONTEND_URL: http://localhost:8888 → https://app.example.com',
    'backend PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
    'backend SVC_MAX_FILE_SIZE_MB: 10 → 5',
    'remote-mcp BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'remote-mcp LOG_LEVEL: info → debug',
    'remote-mcp LOG_LEVELS: unset → bus=warn',
    'remote-mcp PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'remote-mcp PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
    'remote-mcp SVC_ALLOWED_ORIGINS: unset → https://a.example.com,https://b.example.com',
    'remote-mcp SVC_PREVENT_DNS_REBINDING: true → false',
    'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 1000',
    'runtime BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'runtime HEARTBEAT_INTERVAL: unset → 1000',
    'runtime LOG_LEVEL: info → debug',
    'runtime LOG_LEVELS: unset → bus=warn',
    'runtime MCP_SERVER_ALLOWED_ADDRESSES: unset → 10.0.0.0/8,::1',
    'runtime MCP_SERVER_MEMBER_FOLDERS: unset → /m',
    'runtime MCP_SERVER_SANDBOX: unset → bwrap',
    'runtime RUNTIME_NAME: cloud → big',
    'runtime SVC_ALLOWED_PATHS: unset → /a:/b',
    'runtime SVC_MAX_FILE_SIZE_MB: 10 → 5',
    'frontend BIND_HOST: 127.0.0.1 → 0.0.0.0',
    'frontend LOG_LEVEL: info → debug',
    'frontend PUBLIC_BACKEND_URL: http://localhost:3000 → https://api.example.com',
    'frontend PUBLIC_MCP_URL: http://localhost:3001/mcp → https://mcp.example.com/mcp',
  ]);
  expect(() => checkEnvironment(chosen, readSecret)).not.toThrow();
});

test('a changed port changes every address with it', () => {
  const moved = environmentFor('', { backend: 4000, 'remote-mcp': 4001, runtime: 4003, frontend: 4888 });
  expect(JSON.stringify(moved)).not.toMatch(/[:"](3000|3001|3003|8888)\b/);
  expect(moved.backend.PUBLIC_MCP_URL).toBe('http://localhost:4001/mcp');
});

test('an installation whose folder has a colon in its name cannot be hidden, and reports it', () => {
  const odd = { ...installation, dir: '/srv/a:b', secretsDir: '/srv/a:b/secrets' };
  const { parts } = planFor(odd, definitionOf('runtime: { sandbox: bwrap }'), usualPorts);
  expect(() => checkEnvironment(parts, readSecret)).toThrow(
    /MCP_SERVER_HIDDEN_PATHS of runtime must be a colon-separated/,
  );
});

test('containers of MCP servers follow svc.yaml, and no other setting reads these fields', () => {
  const { runtime } = environmentFor(`
images: { base: "our-base:1.2.3" }
runtime: { sandbox: container, dockerSocket: /run/user/1000/docker.sock }
limits: { memoryMaxMb: { mcp-server: 300 } }
`);
  expect(runtime).toMatchObject({
    MCP_SERVER_SANDBOX: 'container',
    MCP_SERVER_DOCKER_SOCKET: '/run/user/1000/docker.sock',
    MCP_SERVER_IMAGE: 'our-base:1.2.3',
    MCP_SERVER_MEMORY_MAX_MB: '300',
  });
  const names = Object.keys(environmentFor('runtime: { sandbox: bwrap }').runtime);
  expect(names.filter((name) => /DOCKER|IMAGE|MEMORY/.test(name))).toEqual([]);
});

describe('the graph of the backend is', () => {
  const variablesOf = (yaml: string) =>
    Object.fromEntries(
      Object.entries(environmentFor(yaml).backend).filter(([name]) => name.startsWith('PRIVATE_GRAPHDB_')),
    );
  const dgraph = 'topology: distributed\ngraph: dgraph\n';

  test("the platform's own Dgraph, as its user there", () => {
    expect(variablesOf(dgraph)).toEqual({
      PRIVATE_GRAPHDB_URL: 'https://127.0.0.1:8080',
      PRIVATE_GRAPHDB_GRPC_URL: '127.0.0.1:9080',
      PRIVATE_GRAPHDB_CA_PATH: '/srv/svc/secrets/graphdb-nodes.crt',
      PRIVATE_GRAPHDB_USER: 'svc',
      PRIVATE_GRAPHDB_PASSWORD_FILE: '/srv/svc/secrets/graphdb-password.key',
      PRIVATE_GRAPHDB_TOKEN_FILE: '/srv/svc/secrets/graphdb-token.key',
    });
  });

  test('an external bus gets the settings of svc.yaml and nothing more', () => {
    expect(variablesOf(`${dgraph}graphdb: { url: "http://db:8080" }\n`)).toEqual({
      PRIVATE_GRAPHDB_URL: 'http://db:8080',
    });
    const all = 'url: "https://db:8080", grpc: [db:9080, other:9080], ca: db.pem, user: us, token: true';
    expect(variablesOf(`${dgraph}graphdb: { ${all} }\n`)).toEqual({
      PRIVATE_GRAPHDB_URL: 'https://db:8080',
      PRIVATE_GRAPHDB_GRPC_URL: 'db:9080,other:9080',
      PRIVATE_GRAPHDB_CA_PATH: '/srv/svc/db.pem',
      PRIVATE_GRAPHDB_USER: 'us',
      PRIVATE_GRAPHDB_PASSWORD_FILE: '/srv/svc/secrets/graphdb-password.key',
      PRIVATE_GRAPHDB_TOKEN_FILE: '/srv/svc/secrets/graphdb-token.key',
    });
  });
});

test('an empty list of commands means none', () => {
  expect(environmentFor('runtime: { commands: [] }').backend.MCP_SERVER_COMMANDS).toBe('none');
});

test('every variable that the stack decides has a recorded place, so that it cannot be set twice', () => {
  const full = `
origins: { agents: [https://a.example.com] }
runtime: { sandbox: bwrap, allowedPaths: [/a], memberFolders: [/m] }
mail: { provider: provider_a, from: a@example.com, url: https://mail.example.com }
logs: { levels: 'bus=warn' }
`;
  const contained = 'runtime: { sandbox: container }';
  const elsewhere = 'topology: distributed\nbus: { servers: [tls://bus.example.com:4222], ca: ca.pem }\n';
  const others =
    'topology: distributed\nbus: { port: 4222, public: { servers: [nats://127.0.0.1:4222], bind: 127.0.0.1 } }\n';
  const cluster = `topology: distributed\ngraph: dgraph\n`;
  const theirs = `${cluster}graphdb: { url: "https://db:8080", grpc: [db:9080], ca: db.pem, user: us, token: true }\n`;
  for (const chosen of [full, contained, elsewhere, others, cluster, theirs].map((yaml) => partsFor(yaml))) {
    for (const { service, part } of servicesOf(chosen)) {
      const decided = Object.keys(part.variables).map((name) => name.replace(/_FILE$/, ''));
      expect(
        decided.filter((name) => placeOf(service, name) === undefined),
        service,
      ).toEqual([]);
    }
  }
});

describe('settings without effect are reported', () => {
  test('for a setting, and for a variable', () => {
    const told = withoutEffect(
      partsFor(`
runtime: { allowedPaths: [/a], sandbox: none-for-everybody }
mail: { provider: provider_a, from: a@example.com, url: https://mail.example.com }
environment: { frontend: { METRICS_PORT: 9100 }, 'remote-mcp': { OTEL_EXPORTER_OTLP_HEADERS_FILE: /run/secrets/otel } }
`),
    );
    expect(told).toEqual([
      ...['EMAIL_PROVIDER', 'PROVIDER_A_API_KEY', 'PROVIDER_A_URL', 'EMAIL_FROM'].map(
        (name) => `backend: ${name} is not used yet: it comes with invitations, the first thing that sends mail.`,
      ),
      'remote-mcp: Not used until metrics and traces come: OTEL_EXPORTER_OTLP_HEADERS_FILE.',
      'runtime: SVC_ALLOWED_PATHS has no effect without MCP_SERVER_SANDBOX=auto or bwrap or container.',
      'frontend: METRICS_PORT is not used yet: it comes with metrics and traces.',
    ]);
  });

  test('for an older file without sandboxes, which an upgrade does not apply to members', () => {
    const parts = partsFor('runtime: { sandbox: none }');
    expect(withoutEffect(parts)).toEqual([
      expect.stringMatching(/^runtime: runtime\.sandbox: none .* is read as auto: .*none-for-everybody/),
    ]);
    expect(() => checkEnvironment(parts, readSecret)).not.toThrow();
    expect(firstOf('runtime', parts).variables.MCP_SERVER_HIDDEN_PATHS).toContain('/srv/svc/secrets');
    expect(environmentFor('runtime: { sandbox: none-for-everybody }').runtime).not.toHaveProperty(
      'MCP_SERVER_HIDDEN_PATHS',
    );
  });

  test("and not for folders that are mounted into the runtime's container", () => {
    const contained = 'topology: distributed\nengine: docker\nruntime: { allowedPaths: [/a] }\n';
    expect(withoutEffect(partsFor(contained))).toEqual([]);
  });

  test('and nothing for defaults, or for moved ports', () => {
    const moved = { backend: 4000, 'remote-mcp': 4001, runtime: 4003, frontend: 4888 };
    expect([...withoutEffect(partsFor('')), ...withoutEffect(partsFor('', moved))]).toEqual([]);
  });
});

test('a value that a service would refuse is refused before anything starts: the development key', () => {
  const withZeros = (file: string) => (file === secrets.encryptionKey ? '0'.repeat(64) : readSecret(file));
  expect(() => checkEnvironment(partsFor(''), withZeros)).toThrow(
    /secrets\/encryption\.key: ENCRYPTION_KEY of backend must not be the development key/,
  );
});
