import { describe, expect, test } from 'vitest';
import { checkDefinition } from './check.ts';
import { definitionOf, refusalOf } from './test/definition-of.ts';

describe('a mistake is reported with its place and its rule', () => {
  test.each(
    Object.entries({
      'prots:\n  backend: 3000\n': /^svc\.yaml:2:1 "prots" is not a field\. Did you mean "ports"\?$/,
      'ports:\n  backnd: 3000\n': /^svc\.yaml:3:3 "ports\.backnd" is not a field\. Did you mean "backend"\?$/,
      'zzzzz: 1\n': /^svc\.yaml:2:1 "zzzzz" is not a field\. Known here: id, name, topology/,
      'ports:\n  backend: 70000\n':
        /^svc\.yaml:3:12 ports\.backend must be auto, or a whole number from 1 to 65535, not 70000\.$/,
      'ports: { backend: 0 }\n': /^svc\.yaml:2:19 ports\.backend must be/,
      'topology: cluster\n': /^svc\.yaml:2:11 topology must be one of embedded, distributed, not "cluster"\.$/,
      'publicUrls:\n  mcp: mcp.example.com\n':
        /^svc\.yaml:3:8 publicUrls\.mcp must be auto, or a full http or https URL/,
      'origins:\n  agents: [https://a.example.com/x]\n': /^svc\.yaml:3:11 origins\.agents must be a list of origins/,
      'ports: 3000\n': /^svc\.yaml:2:8 ports must hold fields: backend, remote-mcp, runtime, frontend\.$/,
      'mail:\n  provider: provider_a\n  url: https://mail.example.com\n':
        /^svc\.yaml:3:13 mail\.from is required with mail\.provider: provider_a\.$/,
      'mail:\n  provider: provider_b\n  from: a@example.com\n':
        /^svc\.yaml:3:13 mail\.url is required with mail\.provider: provider_b\.$/,
      'mail:\n  provider: smtp\n':
        /^svc\.yaml:3:13 mail\.from is required with mail\.provider: smtp\.\nsvc\.yaml:3:13 mail\.smtp\.host is required with mail\.provider: smtp\.$/,
      'mail:\n  provider: smtp\n  from: nobody\n  smtp: { host: mail.example.com }\n':
        /^svc\.yaml:4:9 mail\.from must be an e-mail address, or null, not "nobody"\.$/,
      'mail:\n  smtp: { host: mail.example.com, user: us }\n':
        /^svc\.yaml:3:17 mail\.smtp\.host is for mail\.provider: smtp, and mail\.provider is log\.\nsvc\.yaml:3:41 mail\.smtp\.user is for mail\.provider: smtp/,
      'mail:\n  provider: smtp\n  from: a@example.com\n  smtp: { host: "mail.example.com:25 x" }\n':
        /^svc\.yaml:5:17 mail\.smtp\.host must be the name or address of a mail server, without its port/,
      'mail: { smtp: { tls: ssl } }\n':
        /^svc\.yaml:2:22 mail\.smtp\.tls must be one of starttls, implicit, none, not "ssl"\.$/,
      'mail: { smtp: { port: 0 } }\n': /^svc\.yaml:2:23 mail\.smtp\.port must be a whole number from 1 to 65535/,
      'mail: { smtp: { password: x } }\n': /^svc\.yaml:2:17 "mail\.smtp\.password" is not a field\./,
      'limits:\n  sessionIdleTimeoutMs: 1\n':
        /^svc\.yaml:3:25 limits\.sessionIdleTimeoutMs must be a whole number from 100 to/,
      'runtime:\n  commands: ["a,b"]\n': /^svc\.yaml:3:13 runtime\.commands must be any, none, or a list/,
      'publicUrls:\n  backend: https://api.example.com\n  mcp: https://mcp.example.com/mcp\n':
        /^svc\.yaml:\d+:\d+ publicUrls\.frontend must not be the internal name "localhost" while another public address is configured\.$/,
      'replicas:\n  runtime: 2\n': /^svc\.yaml:3:12 replicas\.runtime above 1 needs topology: distributed\./,
      'topology: distributed\nreplicas:\n  backend: 2\n':
        /^svc\.yaml:4:12 replicas\.backend must be 1 with graph: sqlite: the file has one writer\./,
      'topology: distributed\nreplicas: { nats: 2 }\n':
        /^svc\.yaml:3:19 replicas\.nats must be 1 or 3 \(two would both be needed\), not 2\.$/,
      'topology: distributed\nreplicas: { dgraph-alpha: 4 }\n':
        /^svc\.yaml:3:27 replicas\.dgraph-alpha must be a whole number from 1 to 3, not 4\.$/,
      'replicas: { nats: 3 }\n': /^svc\.yaml:2:19 replicas\.nats above 1 needs topology: distributed\./,
      'topology: distributed\nreplicas: { nats: 3 }\nbus: { servers: [nats://bus.example.com:4222] }\n':
        /^svc\.yaml:3:19 replicas\.nats above 1 needs the platform's own bus, but bus\.servers names an external one\.$/,
      'topology: distributed\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n':
        /^svc\.yaml:3:26 replicas\.dgraph-zero above 1 needs graph: dgraph\.\nsvc\.yaml:3:43 replicas\.dgraph-alpha above 1 needs graph: dgraph\.$/,
      'topology: distributed\ngraph: dgraph\nreplicas: { dgraph-alpha: 2 }\ngraphdb: { url: "http://g.example.com:8080" }\n':
        /^svc\.yaml:4:27 replicas\.dgraph-alpha above 1 needs the platform's own Dgraph, but graphdb\.url names an external one\.$/,
      'topology: distributed\nreplicas: { nats: 3 }\nbus: { port: 65534 }\n':
        /^svc\.yaml:4:14 bus\.port must leave room: the 3 nodes use consecutive numbers\.$/,
      'topology: distributed\nreplicas: { remote-mcp: 17 }\n':
        /^svc\.yaml:3:25 replicas\.remote-mcp must be a whole number from 1 to 16, not 17\.$/,
      'bus:\n  servers: [nats://bus.example.com:4222]\n': /^svc\.yaml:3:12 bus\.servers needs topology: distributed\./,
      'topology: distributed\nbus:\n  servers: [bus.example.com]\n': /^svc\.yaml:4:1[23] bus\.servers(\.0)? must be/,
      'topology: distributed\nbus:\n  servers: []\n':
        /^svc\.yaml:4:12 bus\.servers must be auto, or a list of addresses such as/,
      'trustedProxies: [proxy.example]\n':
        /^svc\.yaml:2:17 trustedProxies must be a list of IP addresses and blocks .* without host names/,
      'signIn:\n  provider: { issuer: https://login.example.com }\n':
        /^svc\.yaml:3:23 signIn\.provider\.clientId is required with signIn\.provider\.issuer\.$/,
      'signIn:\n  provider: { clientId: svc }\n':
        /^svc\.yaml:3:25 signIn\.provider\.issuer is required with signIn\.provider\.clientId\.$/,
      'signIn:\n  provider: { issuer: "https://user@login.example.com", clientId: svc }\n':
        /^svc\.yaml:3:23 signIn\.provider\.issuer must be a full http or https URL/,
      'runtime:\n  allowedAddresses: [10.0.0.0/8, intranet.example]\n':
        /^svc\.yaml:3:21 runtime\.allowedAddresses must be a list of IP addresses and blocks .* without host names and ports/,
      'runtime:\n  allowedAddresses: [10.0.0.1/8]\n':
        /^svc\.yaml:3:21 runtime\.allowedAddresses must be a list of IP addresses and blocks/,
      'topology: distributed\nbus:\n  servers: ["nats://me:secret@bus.example.com:4222"]\n':
        /^svc\.yaml:4:12 bus\.servers: It must hold addresses without user and password(?!.*secret)/,
      'graph: dgraph\n': /^svc\.yaml:2:8 graph: dgraph needs topology: distributed\./,
      'engine: docker\n': /^svc\.yaml:2:9 engine: docker needs topology: distributed\.$/m,
      'bus:\n  public: { servers: [nats://127.0.0.1:4222], bind: 127.0.0.1 }\n':
        /^svc\.yaml:3:11 bus\.public needs topology: distributed\./,
      'public: { host: a.example.com }\n':
        /^svc\.yaml:2:17 public\.host needs topology: distributed\. With topology: embedded there is one process, which cannot supervise Caddy\.$/,
      'ports: {\n': /^svc\.yaml:\d+:\d+ /,
      'name: a\nb: { c: 1, c: 2 }\nname: b\n':
        /^svc\.yaml:3:12 The name "c" is used twice\.\nsvc\.yaml:4:1 The name "name" is used twice\.$/,
      // A value whose key is a collection has no path.
      '? { a: 1, a: 2 }\n: { b: 1, b: 2 }\n':
        /^svc\.yaml:2:11 The name "a" is used twice\.\nsvc\.yaml:3:11 The name "b" is used twice\.$/,
      'name: a\n---\nname: b\n': /^svc\.yaml:3:\d+ It holds more than one document/,
      // JavaScript would lose this key.
      'ports:\n  __proto__: { c: 1 }\n': /^svc\.yaml:3:3 "__proto__" is not a valid name\.$/,
    }),
  )('%j', (yaml, message) => expect(refusalOf(yaml)).toMatch(message));

  test('no id, and an id that init would have made', () => {
    const check = (text: string) => () => checkDefinition(text, 'svc.yaml');
    expect(check('name: x\n')).toThrow(/^svc\.yaml:1:1 id must be 8 to 32 small letters and digits, not left out\.$/);
    expect(check('id: made-by-svc-init\n')).toThrow(/^svc\.yaml:1:5 id must be/);
  });

  test('all of them at once, in the order of the lines', () => {
    const lines = refusalOf('engine: steam\nports:\n  backend: no\nnmae: x\n').split('\n');
    expect(lines.map((line) => /^svc\.yaml:(\d+)/.exec(line)?.[1])).toEqual(['2', '4', '5']);
  });
});

describe('variables without a setting', () => {
  const extra = (service: string, line: string) => `environment:\n  ${service}:\n    ${line}\n`;

  test.each([
    ['are passed on as text', 'runtime', 'HEARTBEAT_INTERVAL', 1000],
    ['of OpenTelemetry are passed on unchanged', 'runtime', 'OTEL_BSP_SCHEDULE_DELAY', 5000],
    ['that are secret may be files', 'backend', 'ENCRYPTION_KEY_PREVIOUS_FILE', '/run/secrets/old'],
  ] as const)('%s', (_, service, name, value) => {
    const { environment } = definitionOf(extra(service, `${name}: ${value}`));
    expect(environment[service]).toEqual({ [name]: String(value) });
  });

  test.each(
    Object.entries({
      [extra('backend', 'PORT: 1')]:
        /^svc\.yaml:4:11 environment\.backend\.PORT: It is decided by ports\.backend only\.$/,
      [extra('backend', `ENCRYPTION_KEY_PREVIOUS: ${'a'.repeat(64)}`)]:
        /^svc\.yaml:4:30 environment\.backend\.ENCRYPTION_KEY_PREVIOUS: It is a secret: put it into a file/,
      [extra('backend', 'HEARTBEAT_INTERVAL: 1')]:
        /^svc\.yaml:4:25 environment\.backend\.HEARTBEAT_INTERVAL: It is not a variable of backend\./,
      [extra('runtime', 'HEARTBEAT_INTERVALL: 1')]: /Did you mean "HEARTBEAT_INTERVAL"\?$/,
      [extra('runtime', 'HEARTBEAT_INTERVAL: soon')]:
        /^svc\.yaml:4:25 environment\.runtime\.HEARTBEAT_INTERVAL: It must be a whole number from 50 to 60000\.$/,
      [extra('runtime', 'USER_KEY: x')]:
        /^svc\.yaml:4:15 environment\.runtime\.USER_KEY: It is rejected by runtime\. The single-agent stdio mode no longer exists/,
      [extra('runtime', 'OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer x"')]:
        /^svc\.yaml:4:33 environment\.runtime\.OTEL_EXPORTER_OTLP_HEADERS: It is a secret: put it into a file(?!.*Bearer)/,
      [extra('runtime', 'OTEL_EXPORTER_OTLP_ENDPOINT: "https://me:hidden@otel.example"')]:
        /OTEL_EXPORTER_OTLP_ENDPOINT: It must be without user and password\.$/,
    }),
  )('are refused in %j', (yaml, message) => expect(refusalOf(yaml)).toMatch(message));
});

describe('graph: dgraph', () => {
  test.each(
    Object.entries({
      '{ url: http://db }': '4:17 graphdb.url must be auto, or an address',
      '{ url: "http://a:b@db:80" }': 'graphdb.url must be',
      '{ grpc: ["http://db:9080"] }': 'graphdb.grpc must be auto, or a list',
      '{ port: 2000 }': 'from 2024 to 64535, not 2000',
      '{ password: x }': '"graphdb.password" is not a field.',
    }),
  )('with graphdb: %s is refused', (yaml, message) => {
    expect(refusalOf(`topology: distributed\ngraph: dgraph\ngraphdb: ${yaml}\n`)).toContain(message);
  });
});

describe('containers', () => {
  const docker = 'topology: distributed\nengine: docker\n';

  test.each(
    Object.entries({
      'images: { dgraph: "dgraph/dgraph:v25.3.9" }': '5:19 images.dgraph must be of 25.4',
      'graphdb: { cacheMb: 2048 }': 'must be at least 2304: graphdb.cacheMb is 2048',
      'graphdb: { url: "http://db:8080" }': '5:17 An external Dgraph needs engine: process',
      'runtime: { sandbox: bwrap }': '5:21 runtime.sandbox: bwrap needs engine: process',
    }),
  )('refuse %s', (yaml, message) => {
    const dgraph = `${docker}graph: dgraph\n`;
    expect(refusalOf(`${dgraph}${yaml}\n`)).toContain(message);
    expect(definitionOf(dgraph).images.dgraph).toBe('dgraph/dgraph:v25.4.0');
    // With SQLite these settings are ignored.
    if (!yaml.startsWith('runtime')) expect(definitionOf(`${docker}${yaml}\n`).graph).toBe('sqlite');
  });

  test.each(['node', 'node:latest', 'node:24', 'node:24-slim', 'NODE:24.1.0', 'node:24.1.0 -v', 'node@sha256:abc'])(
    'refuse the image %s, which has no exact version',
    (image) => {
      const rule = 'images.base must be an image with an exact version';
      expect(refusalOf(`images: { base: "${image}" }\n`)).toContain(rule);
    },
  );

  test('use images with exact versions', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const byDigest = [`node:24.1.0@${digest}`, `node@${digest}`, `node:latest@${digest}`];
    for (const right of ['node:24.1.0-slim', 'host.example:5000/a/node:24.1', ...byDigest]) {
      expect(definitionOf(`images: { base: "${right}" }\n`).images.base).toBe(right);
    }
  });
});

test('a file that is too large is not read', () => {
  const large = `# ${'x'.repeat(2 * 1024 * 1024)}`;
  expect(() => checkDefinition(large, 'svc.yaml')).toThrow(expect.objectContaining({ code: 'too_large' }));
});
