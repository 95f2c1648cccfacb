import { describe, expect, test } from 'vitest';
import { planFor, portWishesOf } from '../engines/plan-of.ts';
import { processPlanOf } from '../engines/process/process-plan.ts';
import { changesBetween, partsThatDiffer } from '../plan/differences.ts';
import type { Plan } from '../plan/plan.ts';
import { type Ports, usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { listensAt, type ReadyCheck } from './part.ts';
import { inStartOrder } from './parts.ts';

const installation = installationIn('/srv/svc');
const ports: Ports = {
  ...usualPorts,
  nats: 4222,
  'nats-http': 8222,
  'remote-mcp-1': 3101,
  'remote-mcp-2': 3102,
  'backend-1': 3201,
  'backend-2': 3202,
  'runtime-2': 3302,
};

function planOf(yaml: string, claimed: Readonly<Record<string, number>> = {}): Plan {
  const definition = definitionOf(yaml);
  const usual = Object.fromEntries(portWishesOf(definition).map(({ name, usual }) => [name, usual]));
  return planFor(installation, definition, { ...usual, ...ports, ...claimed });
}
const distributed = 'topology: distributed\n';
const readyOfNats = (port: number) => `nats://127.0.0.1:${port} by /srv/svc/secrets/bus-system.seed`;
const checked = (ready: ReadyCheck) => (ready.kind === 'http' ? ready.url : `${ready.url} by ${ready.seedFile}`);
const rowsOf = (plan: Plan) => plan.parts.map(({ name, url, ready, after }) => [name, url, checked(ready), after]);
const partOf = (plan: Plan, name: string) => plan.parts.find((part) => part.name === name);
const variablesOf = (plan: Plan, name: string) => partOf(plan, name)?.variables ?? {};
const pair = (side: string) => ` ${side}-cert=secrets/graphdb-nodes.crt; ${side}-key=secrets/graphdb-nodes.key;`;
/** How nodes of Dgraph on loopback authenticate each other. */
const CERTIFICATES = ` internal-port=true; ca-cert=secrets/graphdb-nodes.crt;${pair('server')}${pair('client')}`;

describe('the parts of an installation', () => {
  test('in one process has its four services', () => {
    expect(planOf('').parts.map(({ name, url, after }) => [name, url, after])).toEqual([
      ['backend', 'http://127.0.0.1:3000', []],
      ['remote-mcp', 'http://127.0.0.1:3001', ['runtime', 'frontend']],
      ['runtime', 'http://127.0.0.1:3003', ['backend']],
      ['frontend', 'http://127.0.0.1:8888', ['backend']],
    ]);
  });

  test('in separate processes are those, their replicas, the bus and the proxy of several remote-mcps', () => {
    const plan = planOf(`${distributed}replicas: { remote-mcp: 2, runtime: 2 }`);
    expect(rowsOf(plan)).toEqual([
      ['backend', 'http://127.0.0.1:3000', 'http://127.0.0.1:3000/ready', ['nats']],
      ['remote-mcp', 'http://127.0.0.1:3101', 'http://127.0.0.1:3101/ready', ['runtime', 'runtime-2', 'frontend']],
      ['remote-mcp-2', 'http://127.0.0.1:3102', 'http://127.0.0.1:3102/ready', ['runtime', 'runtime-2', 'frontend']],
      ['runtime', 'http://127.0.0.1:3003', 'http://127.0.0.1:3003/ready', ['backend']],
      ['runtime-2', 'http://127.0.0.1:3302', 'http://127.0.0.1:3302/ready', ['backend']],
      ['frontend', 'http://127.0.0.1:8888', 'http://127.0.0.1:8888/ready', ['backend']],
      ['nats', 'nats://127.0.0.1:4222', readyOfNats(4222), []],
      ['caddy', 'http://127.0.0.1:3001', 'http://127.0.0.1:3001/ready', ['remote-mcp', 'remote-mcp-2']],
    ]);
    expect(
      inStartOrder(plan.parts)
        .map(({ name }) => name)
        .join(' '),
    ).toBe('nats backend runtime runtime-2 frontend remote-mcp remote-mcp-2 caddy');
  });

  test("with the platform's own Dgraph are its two nodes too, before the backend", () => {
    const plan = planOf(`${distributed}graph: dgraph\n`);
    expect(rowsOf(plan).slice(4)).toEqual([
      ['nats', 'nats://127.0.0.1:4222', readyOfNats(4222), []],
      ['dgraph-zero', 'dgraph://127.0.0.1:5080', 'http://127.0.0.1:6080/health', []],
      ['dgraph-alpha', 'dgraph://127.0.0.1:9080', 'http://127.0.0.1:8080/health', ['dgraph-zero']],
    ]);
    expect(partOf(plan, 'backend')?.after).toEqual(['nats', 'dgraph-zero', 'dgraph-alpha']);
  });

  test('of clusters start together, but for coordination nodes of Dgraph: the first founds the cluster', () => {
    const replicas = 'replicas: { nats: 3, dgraph-zero: 3, dgraph-alpha: 2 }\n';
    const plan = planOf(`${distributed}graph: dgraph\n${replicas}`);
    const zeros = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3'];
    expect(rowsOf(plan).slice(4)).toEqual([
      ['nats', 'nats://127.0.0.1:4222', readyOfNats(4222), []],
      ['nats-2', 'nats://127.0.0.1:4223', readyOfNats(4223), []],
      ['nats-3', 'nats://127.0.0.1:4224', readyOfNats(4224), []],
      ['dgraph-zero', 'dgraph://127.0.0.1:5080', 'http://127.0.0.1:6080/health', []],
      ['dgraph-zero-2', 'dgraph://127.0.0.1:5081', 'http://127.0.0.1:6081/health', ['dgraph-zero']],
      ['dgraph-zero-3', 'dgraph://127.0.0.1:5082', 'http://127.0.0.1:6082/health', ['dgraph-zero']],
      ['dgraph-alpha', 'dgraph://127.0.0.1:9080', 'http://127.0.0.1:8080/health', zeros],
      ['dgraph-alpha-2', 'dgraph://127.0.0.1:9081', 'http://127.0.0.1:8081/health', zeros],
    ]);
    expect(partOf(plan, 'backend')?.after).toEqual(plan.parts.slice(4).map(({ name }) => name));
    const servers = 'nats://127.0.0.1:4222,nats://127.0.0.1:4223,nats://127.0.0.1:4224';
    for (const name of ['backend', 'remote-mcp', 'runtime']) {
      expect(variablesOf(plan, name).BUS_SERVERS, name).toBe(servers);
    }
    expect(variablesOf(plan, 'backend').PRIVATE_GRAPHDB_GRPC_URL).toBe('127.0.0.1:9080,127.0.0.1:9081');
  });

  test('without Dgraph when it is external', () => {
    const plan = planOf(`${distributed}graph: dgraph\ngraphdb: { url: "https://db.example.com:8080", user: us }\n`);
    expect(plan.parts.map(({ name }) => name)).toEqual(['backend', 'remote-mcp', 'runtime', 'frontend', 'nats']);
    expect(partOf(plan, 'backend')?.secrets.filter((file) => file.includes('graphdb'))).toEqual([
      '/srv/svc/secrets/graphdb-password.key',
    ]);
  });

  test('without the bus when it is external', () => {
    const addresses = 'tls://a.example.com:1, tls://b.example.com:2';
    const plan = planOf(`${distributed}bus: { servers: [${addresses}], ca: secrets/ca.pem }`);
    expect(partOf(plan, 'nats')).toBeUndefined();
    expect(partOf(plan, 'backend')?.after).toEqual([]);
    expect(variablesOf(plan, 'runtime')).toMatchObject({
      BUS_SERVERS: addresses.replace(' ', ''),
      BUS_CA_PATH: '/srv/svc/secrets/ca.pem',
    });
  });
});

describe('the configuration of a part', () => {
  test('nats-server: its listen address and folder, and no secret', () => {
    const nats = partOf(planOf(distributed), 'nats');
    expect(nats?.variables).toEqual({
      NAME: 'svc-abcdef0123456789',
      LISTEN: '127.0.0.1:4222',
      STORE_DIR: '/srv/svc/data/nats',
      TLS: '',
    });
    expect(nats?.secrets).toEqual(['callout', 'system', 'issuer'].map((name) => `/srv/svc/secrets/bus-${name}.seed`));
  });

  test('nats-server: its monitoring only when svc.yaml names a port, and then on this machine', () => {
    for (const httpPort of ['null', 'auto']) {
      const plan = planOf(`${distributed}bus: { httpPort: ${httpPort} }\n`);
      expect(partOf(plan, 'nats')?.variables).not.toHaveProperty('HTTP_LISTEN');
      expect(partOf(plan, 'nats')?.otherUrls).toBeUndefined();
    }
    const plan = planOf(`${distributed}bus: { port: 4222, httpPort: 8222 }\nreplicas: { nats: 3 }\n`);
    expect(variablesOf(plan, 'nats-2').HTTP_LISTEN).toBe('127.0.0.1:8223');
    expect(partOf(plan, 'nats-2')?.otherUrls).toEqual(['http://127.0.0.1:8223']);
  });

  test('nodes of NATS: each its name, its folder and its routes to the others', () => {
    const plan = planOf(`${distributed}replicas: { nats: 3 }\n`);
    expect(variablesOf(plan, 'nats-2')).toEqual({
      NAME: 'svc-abcdef0123456789-2',
      LISTEN: '127.0.0.1:4223',
      STORE_DIR: '/srv/svc/data/nats-cluster/nats-2',
      TLS: '',
      ROUTE_LISTEN: '127.0.0.1:6223',
      ROUTES: '127.0.0.1:6222,127.0.0.1:6224',
    });
  });

  test('nodes of Dgraph: the first founds the cluster, and all know all coordination nodes', () => {
    const plan = planOf(`${distributed}graph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n`);
    expect(variablesOf(plan, 'dgraph-zero-3')).toEqual({
      BIND_ALL: 'false',
      NODE: '3',
      PEER: '127.0.0.1:5080',
      ADDRESS: '127.0.0.1:5082',
      PORT_OFFSET: '2',
      DATA: 'data/dgraph/zero-3',
      CERTIFICATES,
    });
    expect(variablesOf(plan, 'dgraph-alpha-2')).toMatchObject({
      ADDRESS: '127.0.0.1:7081',
      ZERO: '127.0.0.1:5080,127.0.0.1:5081,127.0.0.1:5082',
      DATA: 'data/dgraph/alpha-2',
    });
  });

  test('a public bus: its public address, with its certificate', () => {
    const tls = 'tls: { cert: secrets/bus.pem, key: /etc/bus.key, ca: secrets/ca.pem }';
    const plan = planOf(
      `${distributed}bus:\n  port: 4222\n  public: { servers: [tls://bus.example.com:4222], bind: "::", ${tls} }`,
    );
    expect(variablesOf(plan, 'nats')).toMatchObject({
      LISTEN: '[::]:4222',
      TLS: 'tls { cert_file: "/srv/svc/secrets/bus.pem", key_file: "/etc/bus.key" }',
    });
    expect(partOf(plan, 'nats')?.secrets.slice(3)).toEqual(['/srv/svc/secrets/bus.pem', '/etc/bus.key']);
    const over = { BUS_SERVERS: 'tls://bus.example.com:4222', BUS_CA_PATH: '/srv/svc/secrets/ca.pem' };
    for (const name of ['backend', 'remote-mcp', 'runtime']) expect(variablesOf(plan, name), name).toMatchObject(over);
    expect(variablesOf(plan, 'backend').PUBLIC_BUS_SERVERS).toBe('tls://bus.example.com:4222');
  });

  test('the nodes of Dgraph: the ports that move together, and no secret', () => {
    const claimed = { 'dgraph-zero': 5081, 'dgraph-alpha': 8180 };
    const plan = planOf(`${distributed}graph: dgraph\ngraphdb: { cacheMb: 64 }\n`, claimed);
    const zero = { BIND_ALL: 'false', NODE: '1', PEER: '', ADDRESS: '127.0.0.1:5081', PORT_OFFSET: '1' };
    expect(variablesOf(plan, 'dgraph-zero')).toEqual({ ...zero, DATA: 'data/dgraph/zero', CERTIFICATES });
    const alpha = {
      ...{ BIND_ALL: 'false', ADDRESS: '127.0.0.1:7180', ZERO: '127.0.0.1:5081', PORT_OFFSET: '100' },
      ...{ DATA: 'data/dgraph/alpha', ACL_KEY: 'secrets/graphdb-acl.key', CACHE_MB: '64', CERTIFICATES },
    };
    expect(variablesOf(plan, 'dgraph-alpha')).toEqual(alpha);
    expect(['dgraph-zero', 'dgraph-alpha', 'backend'].map((name) => partOf(plan, name)?.secrets)).toEqual(
      [
        ['graphdb-token.key', 'graphdb-nodes.key', 'graphdb-nodes.crt'],
        ['graphdb-token.key', 'graphdb-acl.key', 'graphdb-nodes.key', 'graphdb-nodes.crt'],
        [
          ...['bus-callout.seed', 'bus-system.seed', 'bus-issuer.seed', 'graphdb-nodes.crt', 'graphdb-password.key'],
          ...['graphdb-token.key', 'encryption.key', 'jwt-private.pem', 'jwt-public.pem'],
        ],
      ].map((names) => names.map((name) => `/srv/svc/secrets/${name}`)),
    );
  });

  test('services: the bus, and only the backend the keys to it', () => {
    const plan = planOf(`${distributed}bus: { persistentMessaging: false }`);
    for (const name of ['backend', 'remote-mcp', 'runtime']) {
      expect(variablesOf(plan, name).BUS_SERVERS, name).toBe('nats://127.0.0.1:4222');
    }
    expect(variablesOf(plan, 'remote-mcp').BUS_PERSISTENT_MESSAGING).toBe('false');
    expect(variablesOf(plan, 'backend')).toMatchObject({
      BUS_PERSISTENT_MESSAGING: 'false',
      BUS_CALLOUT_SEED_FILE: '/srv/svc/secrets/bus-callout.seed',
      BUS_SYSTEM_SEED_FILE: '/srv/svc/secrets/bus-system.seed',
      BUS_ISSUER_SEED_FILE: '/srv/svc/secrets/bus-issuer.seed',
    });
    for (const name of ['remote-mcp', 'runtime', 'frontend']) {
      expect(JSON.stringify(variablesOf(plan, name)), name).not.toContain('SEED');
    }
    expect(JSON.stringify(planOf('').parts)).not.toMatch(/SEED|nats|PERSISTENT/);
  });

  test.each([
    ['remote-mcp', { REMOTE_PORT: '3001' }, [{ REMOTE_PORT: '3101' }, { REMOTE_PORT: '3102' }]],
    ['backend', { PORT: '3000' }, [{ PORT: '3201' }, { PORT: '3202' }]],
  ] as const)('every %s: as a single one, except its address', (service, usual, ports) => {
    const yaml = `${distributed}graph: dgraph\nbind: 0.0.0.0\n`;
    const alone = partOf(planOf(yaml), service) ?? expect.fail();
    expect(alone.variables).toMatchObject({ ...usual, BIND_HOST: '0.0.0.0' });
    const replicas = planOf(`${yaml}replicas: { ${service}: 2 }`).parts.filter((part) => part.service === service);
    expect(replicas.map(({ variables, secrets }) => [variables, secrets])).toEqual(
      ports.map((port) => [{ ...alone.variables, ...port, BIND_HOST: '127.0.0.1' }, alone.secrets]),
    );
  });

  test('runtimes: the first listens as a single one would, others on loopback, each with its own working folder', () => {
    const plan = planOf(`${distributed}bind: 0.0.0.0\nreplicas: { runtime: 2 }`);
    const first = variablesOf(plan, 'runtime');
    expect(first).toEqual(variablesOf(planOf(`${distributed}bind: 0.0.0.0`), 'runtime'));
    expect(first).toMatchObject({
      REMOTE_PORT: '3003',
      BIND_HOST: '0.0.0.0',
      SVC_WORKING_DIR: '/srv/svc/data/runtime',
    });
    expect(variablesOf(plan, 'runtime-2')).toEqual({
      ...first,
      REMOTE_PORT: '3302',
      BIND_HOST: '127.0.0.1',
      SVC_WORKING_DIR: '/srv/svc/data/runtime-2',
    });
  });

  test('the proxy of several processes: others find them at the address of a single one', () => {
    const one = planOf(`${distributed}graph: dgraph\nbind: 0.0.0.0`);
    const plan = planOf(`${distributed}graph: dgraph\nbind: 0.0.0.0\nreplicas: { backend: 2, remote-mcp: 2 }`);
    expect(partOf(one, 'caddy')).toBeUndefined();
    expect(partOf(plan, 'runtime')?.after).toEqual(['backend', 'backend-2']);
    expect(variablesOf(plan, 'remote-mcp').PRIVATE_BACKEND_URL).toBe('http://127.0.0.1:3000');
    expect(plan.addresses.public).toEqual(one.addresses.public);
    const caddy = partOf(plan, 'caddy') ?? expect.fail();
    expect(listensAt(caddy)).toEqual(['http://127.0.0.1:3001/ready', 'http://127.0.0.1:3000']);
    expect(caddy).toMatchObject({
      ...{ url: 'http://127.0.0.1:3001', secrets: [], after: ['remote-mcp', 'remote-mcp-2', 'backend', 'backend-2'] },
      variables: {
        SITES: 'import shared-remote-mcp\nimport shared-backend',
        SHARED_BIND: 'tcp4/0.0.0.0',
        REMOTE_MCP: '127.0.0.1:3101 127.0.0.1:3102',
        REMOTE_MCP_PORT: '3001',
        BACKEND: '127.0.0.1:3201 127.0.0.1:3202',
        BACKEND_PORT: '3000',
      },
    });
  });

  test('the proxy of everything under one host name: alone on the address of svc.yaml, with all others on loopback', () => {
    const tls = 'tls: files, cert: secrets/a.pem, key: /etc/a.key, httpsPort: 8443, httpPort: 8080';
    const plan = planOf(
      `${distributed}bind: 0.0.0.0\npublic: { host: a.example.com, ${tls} }\nreplicas: { remote-mcp: 2, runtime: 2 }`,
      { 'caddy-https': 8443, 'caddy-http': 8080 },
    );
    expect(partOf(plan, 'caddy')).toMatchObject({
      url: 'https://127.0.0.1:8443',
      ready: { kind: 'http', url: 'http://127.0.0.1:8080/ready' },
      after: ['remote-mcp', 'remote-mcp-2', 'backend', 'frontend'],
      secrets: ['/srv/svc/secrets/a.pem', '/etc/a.key'],
    });
    for (const { name, service, variables } of plan.parts) {
      if (service !== 'caddy' && service !== 'nats') expect(variables.BIND_HOST, name).toBe('127.0.0.1');
    }
    const urls = {
      PUBLIC_BACKEND_URL: 'https://a.example.com:8443',
      PUBLIC_MCP_URL: 'https://a.example.com:8443/mcp',
    };
    for (const name of ['backend', 'remote-mcp', 'frontend']) expect(variablesOf(plan, name), name).toMatchObject(urls);
    expect(variablesOf(plan, 'backend')).toMatchObject({
      PUBLIC_FRONTEND_URL: 'https://a.example.com:8443',
      CORS_ORIGINS: 'https://a.example.com:8443,http://127.0.0.1:8888',
    });
    expect(variablesOf(plan, 'remote-mcp').PRIVATE_BACKEND_URL).toBe('http://127.0.0.1:3000');
  });

  test('without TLS its readiness is asked at its own address', () => {
    const plan = planOf(`${distributed}public: { host: a.example.com }`, { 'caddy-http': 80 });
    expect(partOf(plan, 'caddy')).toMatchObject({
      url: 'http://127.0.0.1:80',
      ready: { kind: 'http', url: 'http://127.0.0.1:80/ready' },
      secrets: [],
    });
    expect(plan.addresses.public.mcp).toBe('http://a.example.com/mcp');
  });
});

test('a part may take a minute to get ready, and a node of Dgraph five, unless svc.yaml says otherwise', () => {
  const startMaxOf = (yaml: string) =>
    Object.fromEntries(
      planOf(`${distributed}graph: dgraph\n${yaml}`).parts.map(({ name, limits }) => [name, limits.startMaxMs]),
    );
  const usual = { backend: 60_000, 'remote-mcp': 60_000, runtime: 60_000, frontend: 60_000, nats: 60_000 };
  expect(startMaxOf('')).toEqual({ ...usual, 'dgraph-zero': 300_000, 'dgraph-alpha': 300_000 });
  expect(new Set(Object.values(startMaxOf('limits: { startSecondsMax: 90 }')))).toEqual(new Set([90_000]));
});

describe('the process of a part', () => {
  const services = {
    backend: '/p/backend.js',
    'remote-mcp': '/p/remote-mcp.js',
    runtime: '/p/runtime.js',
    frontend: '/p/frontend.js',
  };
  const foreign = { 'nats-server': '/n/nats-server', caddy: '/n/caddy', dgraph: '/n/dgraph' };
  const programs = { node: '/n/node', foreign, services };
  const inherited = { PATH: '/bin', HOME: '/srv/me', HTTPS_PROXY: 'http://p:1' };
  const env = { ...inherited, AWS_SECRET: 'x', OTEL_EXPORTER: 'y', NODE_OPTIONS: '--inspect' };
  const plan = planOf(`${distributed}graph: dgraph\nreplicas: { remote-mcp: 2, runtime: 2 }`);
  const processOf = (name: string) => {
    const part = partOf(plan, name);
    return part === undefined ? expect.fail(name) : processPlanOf(part, { installation, env, programs });
  };

  test('runs its service with its variables and the inherited ones', () => {
    expect(processOf('runtime-2')).toEqual({
      program: '/n/node',
      args: ['--max-semi-space-size=16', '/p/runtime.js'],
      cwd: '/srv/svc',
      log: '/srv/svc/logs/runtime-2.log',
      env: {
        NODE_COMPILE_CACHE: '/srv/svc/state/compile-cache',
        ...inherited,
        ...variablesOf(plan, 'runtime-2'),
      },
      isClosed: false,
    });
  });

  const home = '/srv/svc/state/caddy';
  test.each([
    ['nats', 'nats-server', ['-c', '/srv/svc/state/nats.conf'], {}],
    [
      'dgraph-alpha',
      'dgraph',
      ['alpha', '--config', '/srv/svc/state/dgraph-alpha.yaml'],
      { GRPC_ENABLE_TXT_SERVICE_CONFIG: 'false', GOMEMLIMIT: '384MiB' },
    ],
    [
      'caddy',
      'caddy',
      ['run', '--config', '/srv/svc/state/Caddyfile', '--adapter', 'caddyfile'],
      { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
    ],
  ])('of %s has its configuration in a file, and nothing of the shell', (name, program, args, own) => {
    expect(processOf(name)).toEqual({
      program: `/n/${program}`,
      args,
      cwd: '/srv/svc',
      log: `/srv/svc/logs/${name}.log`,
      env: { TZ: 'UTC', ...own },
      isClosed: true,
    });
  });
});

describe('the difference of two plans', () => {
  const before = { version: '1', topology: 'distributed', 'runtime A': '1', 'runtime B': '2', 'runtime-2 A': '1' };

  test('is listed by line, and an added or removed part in one line', () => {
    const after = { ...before, 'runtime A': '3', 'nats A': '1', 'nats B': '1' };
    const { 'runtime-2 A': _, ...without } = after;
    expect(changesBetween(before, without)).toEqual(['nats: new', 'runtime A: 1 → 3', 'runtime-2: no more']);
  });

  test('concerns parts, or all of them', () => {
    expect(partsThatDiffer(before, before)).toEqual(new Set());
    expect(partsThatDiffer(before, { ...before, 'runtime A': '3' })).toEqual(new Set(['runtime']));
    expect(partsThatDiffer(before, { ...before, version: '2', 'runtime A': '3' })).toBeNull();
  });
});
