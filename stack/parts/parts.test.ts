import { describe, expect, test } from 'vitest';
import { processPlanOf } from '../engines/process/process-plan.ts';
import { changesBetween, partsThatDiffer } from '../plan/differences.ts';
import type { Plan } from '../plan/plan.ts';
import { installationIn } from '../state/installation.ts';
import { inStartOrder } from './parts.ts';
import { partOf, planOf } from './test/planned.ts';

const distributed = 'topology: distributed\n';
const cluster = `${distributed}graph: dgraph\n`;
const namesOf = ({ parts }: Pick<Plan, 'parts'>) => parts.map(({ name }) => name);
const rowsOf = (plan: Plan) => plan.parts.map(({ name, url, ready, after }) => [name, url, ready.url, after]);
const variablesOf = (plan: Plan, name: string) => partOf(plan, name).variables;
const secret = (name: string) => `/srv/svc/secrets/${name}`;

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
      ['nats', 'nats://127.0.0.1:4222', 'nats://127.0.0.1:4222', []],
      ['caddy', 'http://127.0.0.1:3001', 'http://127.0.0.1:3001/ready', ['remote-mcp', 'remote-mcp-2']],
    ]);
    const order = 'nats backend runtime runtime-2 frontend remote-mcp remote-mcp-2 caddy';
    expect(namesOf({ parts: inStartOrder(plan.parts) }).join(' ')).toBe(order);
  });

  test("with the platform's own Dgraph are its two nodes too, or several, of which the first founds the cluster", () => {
    expect(namesOf(planOf(cluster)).slice(4)).toEqual(['nats', 'dgraph-zero', 'dgraph-alpha']);
    const plan = planOf(`${cluster}replicas: { nats: 3, dgraph-zero: 3, dgraph-alpha: 2 }\n`);
    const zeros = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3'];
    expect(rowsOf(plan).slice(4)).toEqual([
      ['nats', 'nats://127.0.0.1:4222', 'nats://127.0.0.1:4222', []],
      ['nats-2', 'nats://127.0.0.1:4223', 'nats://127.0.0.1:4223', []],
      ['nats-3', 'nats://127.0.0.1:4224', 'nats://127.0.0.1:4224', []],
      ['dgraph-zero', 'dgraph://127.0.0.1:5080', 'http://127.0.0.1:6080/health', []],
      ['dgraph-zero-2', 'dgraph://127.0.0.1:5081', 'http://127.0.0.1:6081/health', ['dgraph-zero']],
      ['dgraph-zero-3', 'dgraph://127.0.0.1:5082', 'http://127.0.0.1:6082/health', ['dgraph-zero']],
      ['dgraph-alpha', 'dgraph://127.0.0.1:9080', 'http://127.0.0.1:8080/health', zeros],
      ['dgraph-alpha-2', 'dgraph://127.0.0.1:9081', 'http://127.0.0.1:8081/health', zeros],
    ]);
    expect(partOf(plan, 'backend').after).toEqual(namesOf(plan).slice(4));
    const servers = 'nats://127.0.0.1:4222,nats://127.0.0.1:4223,nats://127.0.0.1:4224';
    for (const name of ['backend', 'remote-mcp', 'runtime']) {
      expect(variablesOf(plan, name).BUS_SERVERS, name).toBe(servers);
    }
    expect(variablesOf(plan, 'backend').PRIVATE_GRAPHDB_GRPC_URL).toBe('127.0.0.1:9080,127.0.0.1:9081');
  });

  test('without the bus and the Dgraph when these are external', () => {
    const bus = 'bus: { servers: [tls://a.example.com:1, tls://b.example.com:2], ca: secrets/ca.pem }\n';
    const plan = planOf(`${cluster}${bus}graphdb: { url: "https://db.example.com:8080", user: us }\n`);
    expect(namesOf(plan)).toEqual(['backend', 'remote-mcp', 'runtime', 'frontend']);
    const { after, secrets } = partOf(plan, 'backend');
    expect([after, secrets.filter((file) => file.includes('graphdb'))]).toEqual([[], [secret('graphdb-password.key')]]);
    expect(variablesOf(plan, 'runtime')).toMatchObject({
      BUS_SERVERS: 'tls://a.example.com:1,tls://b.example.com:2',
      BUS_CA_PATH: secret('ca.pem'),
    });
  });
});

describe('the configuration of a part', () => {
  test('nats-server: its listen address and folder, and no secret', () => {
    const nats = partOf(planOf(distributed), 'nats');
    expect(nats.variables).toEqual({
      NAME: 'svc-abcdef0123456789',
      LISTEN: '127.0.0.1:4222',
      STORE_DIR: '/srv/svc/data/nats',
      TLS: '',
    });
    expect(nats.secrets).toEqual(['callout', 'system', 'issuer'].map((name) => secret(`bus-${name}.seed`)));
    expect(nats.ready).toMatchObject({ kind: 'nats', seedFile: secret('bus-system.seed') });
  });

  test('nats-server: its monitoring only when svc.yaml names a port, and then on this machine', () => {
    const natsWith = (port: string) => {
      const plan = planOf(`${distributed}bus: { port: 4222, httpPort: ${port} }\nreplicas: { nats: 3 }\n`);
      const { variables, otherUrls } = partOf(plan, 'nats-2');
      return { variables, otherUrls };
    };
    const closed = {
      NAME: 'svc-abcdef0123456789-2',
      LISTEN: '127.0.0.1:4223',
      STORE_DIR: '/srv/svc/data/nats-cluster/nats-2',
      TLS: '',
      ROUTE_LISTEN: '127.0.0.1:6223',
      ROUTES: '127.0.0.1:6222,127.0.0.1:6224',
    };
    for (const port of ['null', 'auto']) expect(natsWith(port)).toEqual({ variables: closed });
    const open = { ...closed, HTTP_LISTEN: '127.0.0.1:8223' };
    expect(natsWith('8222')).toEqual({ variables: open, otherUrls: ['http://127.0.0.1:8223'] });
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
    expect(partOf(plan, 'nats').secrets.slice(3)).toEqual([secret('bus.pem'), '/etc/bus.key']);
    const over = { BUS_SERVERS: 'tls://bus.example.com:4222', BUS_CA_PATH: secret('ca.pem') };
    for (const name of ['backend', 'remote-mcp', 'runtime']) expect(variablesOf(plan, name), name).toMatchObject(over);
    expect(variablesOf(plan, 'backend').PUBLIC_BUS_SERVERS).toBe('tls://bus.example.com:4222');
  });

  test('the nodes of Dgraph: the ports that move together, all coordination nodes, and no secret', () => {
    const chosen =
      'graphdb: { zeroPort: 5081, port: 8180, cacheMb: 64 }\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }';
    const plan = planOf(`${cluster}${chosen}\n`);
    const [key, certificate] = ['secrets/graphdb-nodes.key', 'secrets/graphdb-nodes.crt'];
    const certificates = ['server', 'client']
      .map((side) => ` ${side}-cert=${certificate}; ${side}-key=${key};`)
      .join('');
    const every = { BIND_ALL: 'false', CERTIFICATES: ` internal-port=true; ca-cert=${certificate};${certificates}` };
    const founder = { ADDRESS: '127.0.0.1:5081', PORT_OFFSET: '1', NODE: '1', PEER: '', DATA: 'data/dgraph/zero' };
    expect(variablesOf(plan, 'dgraph-zero')).toEqual({ ...every, ...founder });
    expect(variablesOf(plan, 'dgraph-zero-3')).toEqual({
      ...every,
      ...{ ADDRESS: '127.0.0.1:5083', PORT_OFFSET: '3', NODE: '3', PEER: founder.ADDRESS, DATA: 'data/dgraph/zero-3' },
    });
    expect(variablesOf(plan, 'dgraph-alpha-2')).toEqual({
      ...every,
      ...{ ADDRESS: '127.0.0.1:7181', PORT_OFFSET: '101', DATA: 'data/dgraph/alpha-2' },
      ZERO: '127.0.0.1:5081,127.0.0.1:5082,127.0.0.1:5083',
      ...{ ACL_KEY: 'secrets/graphdb-acl.key', CACHE_MB: '64' },
    });
    expect(['dgraph-zero', 'dgraph-alpha', 'backend'].map((name) => partOf(plan, name).secrets)).toEqual(
      [
        ['graphdb-token.key', 'graphdb-nodes.key', 'graphdb-nodes.crt'],
        ['graphdb-token.key', 'graphdb-acl.key', 'graphdb-nodes.key', 'graphdb-nodes.crt'],
        [
          ...['bus-callout.seed', 'bus-system.seed', 'bus-issuer.seed', 'graphdb-nodes.crt', 'graphdb-password.key'],
          ...['graphdb-token.key', 'encryption.key', 'jwt-private.pem', 'jwt-public.pem'],
        ],
      ].map((names) => names.map(secret)),
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
      BUS_CALLOUT_SEED_FILE: secret('bus-callout.seed'),
      BUS_SYSTEM_SEED_FILE: secret('bus-system.seed'),
      BUS_ISSUER_SEED_FILE: secret('bus-issuer.seed'),
    });
    for (const name of ['remote-mcp', 'runtime', 'frontend']) {
      expect(JSON.stringify(variablesOf(plan, name)), name).not.toContain('SEED');
    }
    expect(JSON.stringify(planOf('').parts)).not.toMatch(/SEED|nats|PERSISTENT/);
  });

  test.each([
    ['remote-mcp', [{ REMOTE_PORT: '3101' }, { REMOTE_PORT: '3102' }]],
    ['backend', [{ PORT: '3201' }, { PORT: '3202' }]],
    // No proxy takes the address of the first runtime. Each runtime has its own working folder.
    ['runtime', [{ BIND_HOST: '0.0.0.0' }, { REMOTE_PORT: '3302', SVC_WORKING_DIR: '/srv/svc/data/runtime-2' }]],
  ] as const)('every %s: as a single one, except its address', (service, own) => {
    const yaml = `${cluster}bind: 0.0.0.0\n`;
    const alone = partOf(planOf(yaml), service);
    expect(alone.variables.BIND_HOST).toBe('0.0.0.0');
    const replicas = planOf(`${yaml}replicas: { ${service}: 2 }`).parts.filter((part) => part.service === service);
    expect(replicas.map(({ variables, secrets }) => [variables, secrets])).toEqual(
      own.map((one) => [{ ...alone.variables, BIND_HOST: '127.0.0.1', ...one }, alone.secrets]),
    );
  });
});

test('a part may take a minute to get ready, and a node of Dgraph five, unless svc.yaml says otherwise', () => {
  const startMaxOf = (yaml: string) =>
    Object.fromEntries(planOf(`${cluster}${yaml}`).parts.map(({ name, limits }) => [name, limits.startMaxMs]));
  const usual = { backend: 60_000, 'remote-mcp': 60_000, runtime: 60_000, frontend: 60_000, nats: 60_000 };
  expect(startMaxOf('')).toEqual({ ...usual, 'dgraph-zero': 300_000, 'dgraph-alpha': 300_000 });
  expect(new Set(Object.values(startMaxOf('limits: { startSecondsMax: 90 }')))).toEqual(new Set([90_000]));
});

describe('the process of a part', () => {
  const services = { backend: '/p/b.js', 'remote-mcp': '/p/m.js', runtime: '/p/runtime.js', frontend: '/p/f.js' };
  const inherited = { PATH: '/bin', HOME: '/srv/me', HTTPS_PROXY: 'http://p:1' };
  const plan = planOf(`${cluster}replicas: { remote-mcp: 2, runtime: 2 }`);
  const processOf = (name: string) =>
    processPlanOf(partOf(plan, name), {
      installation: installationIn('/srv/svc'),
      id: 'abcdefgh',
      env: { ...inherited, AWS_SECRET: 'x', OTEL_EXPORTER: 'y', NODE_OPTIONS: '--inspect' },
      programs: { node: '/n/node', find: (command) => `/n/${command}`, services },
    });

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
        SVC_INSTALLATION: 'abcdefgh/runtime-2',
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
      env: { TZ: 'UTC', ...own, SVC_INSTALLATION: `abcdefgh/${name}` },
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
