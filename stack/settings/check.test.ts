import { describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { checkDefinition } from './check.ts';

const id = 'id: abcdef0123456789\n';

function refusal(text: string): SvcError {
  try {
    checkDefinition(text, 'svc.yaml');
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a mistake is reported with its place and its rule', () => {
  const rows: readonly [what: string, text: string, told: RegExp][] = [
    [
      'an unknown field',
      `${id}prots:\n  backend: 3000\n`,
      /^svc\.yaml:2:1 "prots" is not a field\. Did you mean "ports"\?$/,
    ],
    [
      'an unknown field inside',
      `${id}ports:\n  backnd: 3000\n`,
      /^svc\.yaml:3:3 "ports\.backnd" is not a field\. Did you mean "backend"\?$/,
    ],
    [
      'a field unlike any other',
      `${id}zzzzz: 1\n`,
      /^svc\.yaml:2:1 "zzzzz" is not a field\. Known here: id, name, topology/,
    ],
    [
      'a port that is none',
      `${id}ports:\n  backend: 70000\n`,
      /^svc\.yaml:3:12 ports\.backend must be auto, or a whole number from 1 to 65535, not 70000\.$/,
    ],
    ['a port in words', `${id}ports:\n  backend: many\n`, /^svc\.yaml:3:12 ports\.backend must be .* not "many"\.$/],
    ['a port of 0', `${id}ports: { backend: 0 }\n`, /^svc\.yaml:2:19 ports\.backend must be/],
    [
      'a choice that is none',
      `${id}topology: cluster\n`,
      /^svc\.yaml:2:11 topology must be one of embedded, distributed, not "cluster"\.$/,
    ],
    [
      'an address that is none',
      `${id}publicUrls:\n  mcp: mcp.example.com\n`,
      /^svc\.yaml:3:8 publicUrls\.mcp must be auto, or a full http or https URL/,
    ],
    [
      'an origin with a path',
      `${id}origins:\n  agents: [https://a.example.com/x]\n`,
      /^svc\.yaml:3:11 origins\.agents must be a list of origins/,
    ],
    [
      'text where fields belong',
      `${id}ports: 3000\n`,
      /^svc\.yaml:2:8 ports must hold fields: backend, remote-mcp, runtime, frontend\.$/,
    ],
    ['no id', 'name: x\n', /^svc\.yaml:1:1 id must be 8 to 32 small letters and digits, not left out\.$/],
    ['an id that init would have made', `id: made-by-svc-init\n`, /^svc\.yaml:1:5 id must be/],
    [
      'mail without a sender',
      `${id}mail:\n  provider: provider_a\n  url: https://mail.example.com\n`,
      /^svc\.yaml:3:13 mail\.from is required with mail\.provider: provider_a\.$/,
    ],
    [
      'a session timeout of no time',
      `${id}limits:\n  sessionIdleTimeoutMs: 1\n`,
      /^svc\.yaml:3:25 limits\.sessionIdleTimeoutMs must be a whole number from 100 to/,
    ],
    [
      'a command with a comma',
      `${id}runtime:\n  commands: ["a,b"]\n`,
      /^svc\.yaml:3:13 runtime\.commands must be any, none, or a list/,
    ],
    [
      'a public address beside internal ones',
      `${id}publicUrls:\n  backend: https://api.example.com\n  mcp: https://mcp.example.com/mcp\n`,
      /^svc\.yaml:\d+:\d+ publicUrls\.frontend must not be the internal name "localhost" while another public address is configured\.$/,
    ],
    [
      'replicas in one process',
      `${id}replicas:\n  runtime: 2\n`,
      /^svc\.yaml:3:12 replicas\.runtime above 1 needs topology: distributed\./,
    ],
    [
      'a second backend',
      `${id}topology: distributed\nreplicas:\n  backend: 2\n`,
      /^svc\.yaml:4:12 replicas\.backend must be 1 with graph: sqlite: the file has one writer\./,
    ],
    [
      'two nodes that decide by majority',
      `${id}topology: distributed\nreplicas: { nats: 2 }\n`,
      /^svc\.yaml:3:19 replicas\.nats must be 1 or 3 \(two would both be needed\), not 2\.$/,
    ],
    [
      'more data nodes than share what they keep',
      `${id}topology: distributed\nreplicas: { dgraph-alpha: 4 }\n`,
      /^svc\.yaml:3:27 replicas\.dgraph-alpha must be a whole number from 1 to 3, not 4\.$/,
    ],
    [
      'nodes in one process',
      `${id}replicas: { nats: 3 }\n`,
      /^svc\.yaml:2:19 replicas\.nats above 1 needs topology: distributed\./,
    ],
    [
      'replicas of an external bus',
      `${id}topology: distributed\nreplicas: { nats: 3 }\nbus: { servers: [nats://bus.example.com:4222] }\n`,
      /^svc\.yaml:3:19 replicas\.nats above 1 needs the platform's own bus, but bus\.servers names an external one\.$/,
    ],
    [
      'replicas of Dgraph with graph: sqlite',
      `${id}topology: distributed\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n`,
      /^svc\.yaml:3:26 replicas\.dgraph-zero above 1 needs graph: dgraph\.\nsvc\.yaml:3:43 replicas\.dgraph-alpha above 1 needs graph: dgraph\.$/,
    ],
    [
      'replicas of an external Dgraph',
      `${id}topology: distributed\ngraph: dgraph\nreplicas: { dgraph-alpha: 2 }\ngraphdb: { url: "http://g.example.com:8080" }\n`,
      /^svc\.yaml:4:27 replicas\.dgraph-alpha above 1 needs the platform's own Dgraph, but graphdb\.url names an external one\.$/,
    ],
    [
      'a port after which there is none for the other nodes',
      `${id}topology: distributed\nreplicas: { nats: 3 }\nbus: { port: 65534 }\n`,
      /^svc\.yaml:4:14 bus\.port must leave room: the 3 nodes use consecutive numbers\.$/,
    ],
    [
      'more replicas than a machine can use',
      `${id}topology: distributed\nreplicas: { remote-mcp: 17 }\n`,
      /^svc\.yaml:3:25 replicas\.remote-mcp must be a whole number from 1 to 16, not 17\.$/,
    ],
    [
      'a bus elsewhere for one process',
      `${id}bus:\n  servers: [nats://bus.example.com:4222]\n`,
      /^svc\.yaml:3:12 bus\.servers needs topology: distributed\./,
    ],
    [
      'a bus elsewhere without a port',
      `${id}topology: distributed\nbus:\n  servers: [bus.example.com]\n`,
      /^svc\.yaml:4:1[23] bus\.servers(\.0)? must be/,
    ],
    [
      'a bus elsewhere that is nowhere',
      `${id}topology: distributed\nbus:\n  servers: []\n`,
      /^svc\.yaml:4:12 bus\.servers must be auto, or a list of addresses such as/,
    ],
    [
      'a host name where addresses are allowed',
      `${id}runtime:\n  allowedAddresses: [10.0.0.0/8, intranet.example]\n`,
      /^svc\.yaml:3:21 runtime\.allowedAddresses must be a list of IP addresses and blocks .* without host names and ports/,
    ],
    [
      'a block with bits beyond its prefix',
      `${id}runtime:\n  allowedAddresses: [10.0.0.1/8]\n`,
      /^svc\.yaml:3:21 runtime\.allowedAddresses must be a list of IP addresses and blocks/,
    ],
    [
      'a bus elsewhere with its password',
      `${id}topology: distributed\nbus:\n  servers: ["nats://me:secret@bus.example.com:4222"]\n`,
      /^svc\.yaml:4:12 bus\.servers: It must hold addresses without user and password(?!.*secret)/,
    ],
    ['broken YAML', `${id}ports: {\n`, /^svc\.yaml:\d+:\d+ /],
    ['a name twice', `${id}name: a\nname: b\n`, /^svc\.yaml:3:1 The name "name" is used twice/],
  ];
  for (const [what, text, told] of rows) {
    test(what, () => {
      const error = refusal(text);
      expect(error.code).toBe('invalid_input');
      expect(error.message).toMatch(told);
    });
  }

  test('all of them at once, in the order of the lines', () => {
    const { message } = refusal(`${id}engine: steam\nports:\n  backend: no\nnmae: x\n`);
    expect(message.split('\n').map((line) => /^svc\.yaml:(\d+)/.exec(line)?.[1])).toEqual(['2', '4', '5']);
  });
});

describe('variables without a setting', () => {
  const extra = (service: string, line: string) => `${id}environment:\n  ${service}:\n    ${line}\n`;

  test('are passed on as text', () => {
    const { environment } = checkDefinition(extra('runtime', 'HEARTBEAT_INTERVAL: 1000'), 'svc.yaml');
    expect(environment.runtime).toEqual({ HEARTBEAT_INTERVAL: '1000' });
  });

  const rows: readonly [what: string, text: string, told: RegExp][] = [
    [
      'a variable that a field decides',
      extra('backend', 'PORT: 1'),
      /^svc\.yaml:4:11 environment\.backend\.PORT: It is decided by ports\.backend only\.$/,
    ],
    [
      'a secret',
      extra('backend', `ENCRYPTION_KEY_PREVIOUS: ${'a'.repeat(64)}`),
      /^svc\.yaml:4:30 environment\.backend\.ENCRYPTION_KEY_PREVIOUS: It is a secret: put it into a file/,
    ],
    [
      'a variable of another service',
      extra('backend', 'HEARTBEAT_INTERVAL: 1'),
      /^svc\.yaml:4:25 environment\.backend\.HEARTBEAT_INTERVAL: It is not a variable of backend\./,
    ],
    ['a mistyped one', extra('runtime', 'HEARTBEAT_INTERVALL: 1'), /Did you mean "HEARTBEAT_INTERVAL"\?$/],
    [
      'a value that breaks the rule',
      extra('runtime', 'HEARTBEAT_INTERVAL: soon'),
      /^svc\.yaml:4:25 environment\.runtime\.HEARTBEAT_INTERVAL: It must be a whole number from 50 to 60000\.$/,
    ],
    [
      'a rejected one',
      extra('runtime', 'USER_KEY: x'),
      /^svc\.yaml:4:15 environment\.runtime\.USER_KEY: It is rejected by runtime\. The single-agent stdio mode no longer exists/,
    ],
  ];
  for (const [what, text, told] of rows) test(what, () => expect(refusal(text).message).toMatch(told));

  test('those of OpenTelemetry are passed on unchanged, except credentials', () => {
    const { environment } = checkDefinition(extra('runtime', 'OTEL_BSP_SCHEDULE_DELAY: 5000'), 'svc.yaml');
    expect(environment.runtime).toEqual({ OTEL_BSP_SCHEDULE_DELAY: '5000' });
    const { message } = refusal(extra('runtime', 'OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer x"'));
    expect(message).toMatch(
      /^svc\.yaml:4:33 environment\.runtime\.OTEL_EXPORTER_OTLP_HEADERS: It is a secret: put it into a file/,
    );
    expect(message).not.toContain('Bearer');
    const withPassword = refusal(extra('runtime', 'OTEL_EXPORTER_OTLP_ENDPOINT: "https://me:hidden@otel.example"'));
    expect(withPassword.message).toMatch(/OTEL_EXPORTER_OTLP_ENDPOINT: It must be without user and password\.$/);
  });

  test('a secret may be given as a file', () => {
    const { environment } = checkDefinition(
      extra('backend', 'ENCRYPTION_KEY_PREVIOUS_FILE: /run/secrets/old'),
      'svc.yaml',
    );
    expect(environment.backend).toEqual({ ENCRYPTION_KEY_PREVIOUS_FILE: '/run/secrets/old' });
  });
});

describe('graph: dgraph', () => {
  const distributed = `${id}topology: distributed\ngraph: dgraph\n`;

  test("is the platform's own cluster by default", () => {
    const { graph, graphdb } = checkDefinition(distributed, 'svc.yaml');
    expect([graph, graphdb]).toEqual([
      'dgraph',
      { url: 'auto', grpc: 'auto', token: false, port: 'auto', zeroPort: 'auto', cacheMb: 128 },
    ]);
  });

  test('may have several backends', () => {
    expect(checkDefinition(`${distributed}replicas: { backend: 3 }\n`, 'svc.yaml').replicas.backend).toBe(3);
  });

  test.each([
    ['in one process', `${id}graph: dgraph\n`, '2:8 graph: dgraph needs topology: distributed.'],
    [
      'at an address without a port',
      `${distributed}graphdb: { url: http://db }\n`,
      '4:17 graphdb.url must be auto, or an address',
    ],
    ['at an address with a password', `${distributed}graphdb: { url: "http://a:b@db:80" }\n`, 'graphdb.url must be'],
    [
      'at gRPC with a scheme',
      `${distributed}graphdb: { grpc: ["http://db:9080"] }\n`,
      'graphdb.grpc must be auto, or a list',
    ],
    ['on a port whose neighbours are none', `${distributed}graphdb: { port: 2000 }\n`, 'from 2024 to 64535, not 2000'],
    ['with a password', `${distributed}graphdb: { password: x }\n`, '"graphdb.password" is not a field.'],
  ])('%s is refused', (_, yaml, message) => {
    const error = refusal(yaml);
    expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining(message)]);
  });
});

describe('containers', () => {
  test.each(['backend', 'nats', 'dgraph-zero', 'dgraph-alpha'] as const)('hold several of %s', (part) => {
    const yaml = `${id}topology: distributed\nengine: docker\ngraph: dgraph\nreplicas: { ${part}: 3 }\n`;
    expect(checkDefinition(yaml, 'svc.yaml').replicas[part]).toBe(3);
  });

  test('require separate parts', () => {
    expect(refusal(`${id}engine: docker\n`).message).toContain('2:9 engine: docker needs topology: distributed.');
    expect(checkDefinition(`${id}topology: distributed\nengine: docker\n`, 'svc.yaml').engine).toBe('docker');
  });

  test.each([
    [
      'an image of Dgraph that is too old',
      'images: { dgraph: "dgraph/dgraph:v25.3.9" }',
      '5:19 images.dgraph must be of 25.4',
    ],
    [
      'less memory than the cache of Dgraph takes',
      'graphdb: { cacheMb: 2048 }',
      'must be at least 2304: graphdb.cacheMb is 2048',
    ],
    ['a Dgraph elsewhere', 'graphdb: { url: "http://db:8080" }', '5:17 An external Dgraph needs engine: process'],
    ['a sandbox', 'runtime: { sandbox: bwrap }', '5:21 runtime.sandbox: bwrap needs engine: process'],
  ])('refuse %s', (_, yaml, message) => {
    const dgraph = `${id}topology: distributed\nengine: docker\ngraph: dgraph\n`;
    expect(refusal(`${dgraph}${yaml}\n`).message).toContain(message);
    expect(checkDefinition(dgraph, 'svc.yaml').images.dgraph).toBe('dgraph/dgraph:v25.4.0');
    // With SQLite these settings are ignored.
    const sqlite = `${id}topology: distributed\nengine: docker\n${yaml}\n`;
    if (!yaml.startsWith('runtime')) expect(checkDefinition(sqlite, 'svc.yaml').graph).toBe('sqlite');
  });

  test('use images with exact versions', () => {
    for (const wrong of [
      'node',
      'node:latest',
      'node:24',
      'node:24-slim',
      'NODE:24.1.0',
      'node:24.1.0 -v',
      'node@sha256:abc',
    ]) {
      expect(refusal(`${id}images: { base: "${wrong}" }\n`).message).toContain(
        'images.base must be an image with an exact version',
      );
    }
    const digest = `sha256:${'a'.repeat(64)}`;
    const byDigest = [`node:24.1.0@${digest}`, `node@${digest}`, `node:latest@${digest}`];
    for (const right of ['node:24.1.0-slim', 'host.example:5000/a/node:24.1', ...byDigest]) {
      expect(checkDefinition(`${id}images: { base: "${right}" }\n`, 'svc.yaml').images.base).toBe(right);
    }
  });
});

test('a file that is too large is not read', () => {
  expect(refusal(`# ${'x'.repeat(2 * 1024 * 1024)}`).code).toBe('too_large');
});
