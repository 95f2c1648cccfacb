import { describe, expect, test } from 'vitest';
import { publicBusKey } from '../../secrets/bus-seeds.ts';
import { watching } from './health-check.ts';
import { idIn, labels } from './names.ts';
import { networkPlansOf } from './network.ts';
import { provisionerOf } from './provision-graph.ts';
import { taskOptions } from './task.ts';
import { containerOf, facts, planFrom, plannedFrom } from './test/planned.ts';

interface Binding {
  readonly HostIp: string;
  readonly HostPort: string;
}

const hashOf = (yaml: string, name: string, changed = {}) =>
  containerOf(plannedFrom(yaml, changed), name).options.Labels?.[labels.hash];

/** The Docker options, the check and the files of a container, as text without quotes. */
const textOf = (yaml: string, name: string) => {
  const { given, check, options } = containerOf(plannedFrom(yaml), name);
  return JSON.stringify({ given, check, options }).replaceAll(/\\*"/g, '').replaceAll('\\n', '\n');
};

const prefix = 'svc-abcdef0123456789';
const [platform, bus, graph] = [prefix, `${prefix}-bus`, `${prefix}-graph`];
const dgraph = 'graph: dgraph\n';

describe('what Docker shall have', () => {
  test('has networks, of which those of the nodes lead nowhere', () => {
    const Labels = { 'svc.installation': 'abcdef0123456789' };
    const closed = { Internal: true, Options: { 'com.docker.network.bridge.inhibit_ipv4': 'true' } };
    const bridge = { Driver: 'bridge', CheckDuplicate: true, Labels };
    const wanted = [
      { Name: platform, ...bridge },
      { Name: bus, ...bridge, ...closed },
      { Name: graph, ...bridge, ...closed },
    ];
    expect(networkPlansOf(planFrom(dgraph).definition)).toEqual(wanted);
    expect(networkPlansOf(planFrom().definition)).toEqual(wanted.slice(0, 2));
  });

  test('has containers in start order, each with its networks, its data and the files that it reads', () => {
    const planned = plannedFrom(dgraph);
    expect(planned.map(({ part, networks, volume }) => [part.name, networks, volume])).toEqual([
      ['nats', [bus], `${prefix}-nats`],
      ['dgraph-zero', [graph], `${prefix}-dgraph-zero`],
      ['dgraph-alpha', [graph], `${prefix}-dgraph-alpha`],
      ['backend', [platform, bus, graph], null],
      ['runtime', [platform, bus], `${prefix}-runtime`],
      ['frontend', [platform], null],
      ['remote-mcp', [platform, bus], null],
    ]);
    expect(planned.map(({ given }) => given.map(({ name }) => name).join(' '))).toEqual([
      'nats.conf',
      'dgraph-zero.yaml',
      'dgraph-alpha.yaml graphdb-acl.key',
      expect.stringMatching(/^bus-callout\.seed .*graphdb-password\.key graphdb-token\.key encryption\.key jwt-p/),
      'system-runtime.key',
      '',
      'system-remote-mcp.key',
    ]);
    expect(containerOf(planned, 'frontend').options.HostConfig?.Binds).toEqual([]);
    const { name: container } = containerOf(planned, 'remote-mcp').options;
    expect(idIn({ services: [{ name: 'remote-mcp', container, url: null }] })).toBe('abcdef0123456789');
  });

  test('has the bus in the network of all parts too when runtimes elsewhere come to it', () => {
    const open = 'bus: { port: 4222, public: { servers: ["nats://bus.example.com:4222"], insecure: true } }\n';
    expect(containerOf(plannedFrom(open), 'nats').networks).toEqual([platform, bus]);
    const outside = 'bus: { servers: ["nats://bus.example.com:4222"] }\n';
    expect(networkPlansOf(planFrom(outside).definition).map(({ Name }) => Name)).toEqual([platform]);
    expect(new Set(plannedFrom(outside).flatMap(({ networks }) => networks))).toEqual(new Set([platform]));
  });

  test('is a backend exactly like this', () => {
    const { options, check } = containerOf(plannedFrom(), 'backend');
    const program = '/svc/dist/stack/engines/docker/check-ready/main.js';
    expect(check).toEqual(['node', program, 'http://127.0.0.1:3000/ready']);
    expect(options).toEqual({
      name: 'svc-abcdef0123456789-backend',
      Image: 'svc-platform:1.2.3-abc',
      Hostname: 'backend',
      User: '1000:1000',
      // All other variables are the same as for a process.
      Env: expect.arrayContaining([
        'BIND_HOST=0.0.0.0',
        'PORT=3000',
        'BUS_SERVERS=nats://nats:4222',
        'BUS_CALLOUT_SEED_FILE=/run/svc/bus-callout.seed',
        'PRIVATE_GRAPHDB_URL=file:///data/graph.sqlite',
        'FILES_DIR=/data/blobs',
        'ENCRYPTION_KEY_FILE=/run/svc/encryption.key',
        'JWT_PRIVATE_KEY_PATH=/run/svc/jwt-private.pem',
      ]),
      Entrypoint: ['node', '/svc/dist/services/backend/main.js'],
      Cmd: [],
      Healthcheck: { Test: [...watching(check)], Interval: 15e9, Timeout: 10e9, Retries: 3, StartPeriod: 60e9 },
      StopTimeout: 35,
      ExposedPorts: { '3000/tcp': {} },
      HostConfig: {
        Binds: ['svc-abcdef0123456789-backend:/data:nocopy', '/srv/svc/state/containers/backend:/run/svc:ro,Z'],
        NetworkMode: 'svc-abcdef0123456789',
        PortBindings: { '3000/tcp': [{ HostIp: '127.0.0.1', HostPort: '3000' }] },
        RestartPolicy: { Name: 'unless-stopped', MaximumRetryCount: 0 },
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=64m,mode=1777' },
        CapDrop: ['ALL'],
        CapAdd: [],
        SecurityOpt: ['no-new-privileges'],
        Memory: 512 * 1024 * 1024,
        PidsLimit: 128,
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
        Init: true,
      },
      NetworkingConfig: { EndpointsConfig: { 'svc-abcdef0123456789': { Aliases: ['backend'] } } },
      Labels: {
        'svc.installation': 'abcdef0123456789',
        'svc.folder': '/srv/svc',
        'svc.part': 'backend',
        'svc.config-hash': expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
  });

  test('gives NATS public keys alone', () => {
    const text = textOf('', 'nats');
    for (const name of ['callout', 'system', 'issuer']) {
      expect(text).toContain(publicBusKey(facts.readSecret(`bus-${name}.seed`)));
      expect(text).not.toContain(facts.readSecret(`bus-${name}.seed`));
    }
  });

  const host = 'bind: 0.0.0.0\npublic: { host: agents.example.com, ';
  /** Expected texts, by svc.yaml and then by part. */
  const texts: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
    [dgraph]: {
      nats: [
        'Entrypoint:[nats-server,-c,/run/svc/nats.conf]',
        'check:[wget,-q,-O,/dev/null,http://127.0.0.1:8222/healthz]',
        'listen: 0.0.0.0:4222\nhttp: 127.0.0.1:8222\n',
        'store_dir: /data\n',
      ],
      'dgraph-zero': ['my: dgraph-zero:5080\nport_offset: 0\nwal: /data\n', 'raft: idx=1\npeer: \n'],
      'dgraph-alpha': [
        'check:[curl,-sS,-f,-m,4,-o,/dev/null,http://127.0.0.1:8080/health]',
        'Image:dgraph/dgraph:v25.4.0,',
        'User:1000:1000,Env:[TZ=UTC,GRPC_ENABLE_TXT_SERVICE_CONFIG=false,GOMEMLIMIT=384MiB],',
        'Entrypoint:[dgraph,alpha,--config,/run/svc/dgraph-alpha.yaml],Cmd:[]',
        `Binds:[${prefix}-dgraph-alpha:/data:nocopy,/srv/svc/state/containers/dgraph-alpha:/run/svc:ro,Z]`,
        `NetworkMode:${graph},PortBindings:{}`,
        `Memory:${1536 * 1024 * 1024},PidsLimit:512,`,
        'bindall: true\nmy: dgraph-alpha:7080\nzero: dgraph-zero:5080\nport_offset: 0\npostings: /data/p\n',
        'survive: filesystem\n',
        'acl: secret-file=/run/svc/graphdb-acl.key\n',
        'security: token=the-token; whitelist=172.18.0.0/16;\n',
        'tls: use-system-ca=false;\n',
        'telemetry: reports=false; sentry=false\n',
        'copyOf:/srv/svc/secrets/graphdb-acl.key',
      ],
      backend: ['PRIVATE_GRAPHDB_URL=http://dgraph-alpha:8080,', 'PRIVATE_GRAPHDB_GRPC_URL=dgraph-alpha:9080,'],
    },
    [`${dgraph}images: { dgraph: "dgraph/dgraph:v25.5.1" }`]: {
      'dgraph-alpha': ['whitelist=172.18.0.0/16; anonymous=none'],
    },
    [`${dgraph}replicas: { backend: 2 }`]: { caddy: ['/dev/null,http://127.0.0.1:3000/ready]'] },
    [`${dgraph}replicas: { nats: 3, dgraph-zero: 3, dgraph-alpha: 2, backend: 2, remote-mcp: 3 }`]: {
      // A single node and a cluster cannot read each other's data, so a single node has its own volume `nats`.
      nats: [`server_name: ${prefix}\n`, `Binds:[${prefix}-nats-1:/data:nocopy`],
      'nats-2': [
        `server_name: ${prefix}-2\n`,
        'listen: 0.0.0.0:6222\n',
        'routes: [nats-route://node:the-routes@nats:6222,nats-route://node:the-routes@nats-3:6222]',
        `Binds:[${prefix}-nats-2:/data:nocopy`,
        `NetworkMode:${bus},`,
      ],
      runtime: ['BUS_SERVERS=nats://nats:4222,nats://nats-2:4222,nats://nats-3:4222,'],
      'dgraph-zero-3': [
        'my: dgraph-zero-3:5080\nport_offset: 0\nwal: /data\n',
        'raft: idx=3\npeer: dgraph-zero:5080\n',
        `Binds:[${prefix}-dgraph-zero-3:/data:nocopy`,
        `NetworkMode:${graph},PortBindings:{}`,
      ],
      'dgraph-alpha-2': [
        'my: dgraph-alpha-2:7080\nzero: dgraph-zero:5080,dgraph-zero-2:5080,dgraph-zero-3:5080\n',
        `Binds:[${prefix}-dgraph-alpha-2:/data:nocopy`,
        `NetworkMode:${graph},PortBindings:{}`,
      ],
      backend: ['PRIVATE_GRAPHDB_GRPC_URL=dgraph-alpha:9080,dgraph-alpha-2:9080,'],
      caddy: [
        'reverse_proxy remote-mcp:3001 remote-mcp-2:3001 remote-mcp-3:3001',
        'reverse_proxy backend:3000 backend-2:3000',
        'CapAdd:[NET_BIND_SERVICE]',
        '/dev/null,http://127.0.0.1:3001/ready]',
      ],
      'remote-mcp': ['PRIVATE_BACKEND_URL=http://caddy:3000,'],
    },
    [`${host}tls: acme, acme: { ca: secrets/ca.pem } }`]: {
      caddy: [
        `Binds:[${prefix}-caddy:/data:nocopy`,
        'copyOf:/srv/svc/secrets/ca.pem',
        'storage file_system /data\n',
        'trusted_roots /run/svc/ca.pem\n',
        'alt_tlsalpn_port 8443\n',
      ],
    },
  };
  const rows = Object.entries(texts).flatMap(([yaml, parts]) =>
    Object.entries(parts).map(([name, says]) => ({ yaml, name, says })),
  );
  test.each(rows)('gives $name what it needs with $yaml', ({ yaml, name, says }) => {
    const text = textOf(yaml, name);
    for (const excerpt of says) expect(text).toContain(excerpt);
  });

  test('gives the front copies of its certificate, under names of their own', () => {
    const yaml = `${host}tls: files, cert: secrets/a/own.pem, key: secrets/b/own.pem }`;
    const { given, volume } = containerOf(plannedFrom(yaml), 'caddy');
    const own = expect.stringMatching(/^[0-9a-f]{8}-own\.pem$/);
    const [, ...files] = given;
    expect(files).toEqual([
      { name: own, content: { copyOf: '/srv/svc/secrets/a/own.pem' } },
      { name: own, content: { copyOf: '/srv/svc/secrets/b/own.pem' } },
    ]);
    const [cert, key] = files.map(({ name }) => name);
    expect(cert).not.toBe(key);
    expect(volume).toBeNull();
    for (const excerpt of [
      `https://agents.example.com:8443 {\n\\t\\ttls /run/svc/${cert} /run/svc/${key}\n`,
      'reverse_proxy backend:3000',
      'reverse_proxy frontend:8888',
      'reverse_proxy remote-mcp:3001',
      'redir https://agents.example.com{uri}',
      '/dev/null,http://127.0.0.1:8080/ready]',
    ])
      expect(textOf(yaml, 'caddy')).toContain(excerpt);
  });

  const open = 'public: { servers: ["nats://bus.example.com:4222"], bind: 0.0.0.0, insecure: true }';
  const own = 'public: { host: agents.example.com, ';
  test.each([
    {
      what: 'the addresses of people and agents, on bind',
      yaml: 'bind: 0.0.0.0',
      on: ['backend 3000 0.0.0.0:3000', 'frontend 8888 0.0.0.0:8888', 'remote-mcp 3001 0.0.0.0:3001'],
    },
    {
      what: 'each node of NATS for runtimes elsewhere, on consecutive ports',
      yaml: `replicas: { nats: 3 }\nbus: { port: 4222, ${open} }`,
      on: [
        ...['nats 4222 0.0.0.0:4222', 'nats-2 4222 0.0.0.0:4223', 'nats-3 4222 0.0.0.0:4224'],
        ...['backend 3000 127.0.0.1:3000', 'frontend 8888 127.0.0.1:8888', 'remote-mcp 3001 127.0.0.1:3001'],
      ],
    },
    {
      what: 'a front in place of several remote-mcps',
      yaml: 'replicas: { remote-mcp: 3 }',
      on: ['backend 3000 127.0.0.1:3000', 'frontend 8888 127.0.0.1:8888', 'caddy 3001 127.0.0.1:3001'],
    },
    {
      what: 'a front before several backends, each of which this machine alone reaches besides',
      yaml: 'bind: 0.0.0.0\ngraph: dgraph\nreplicas: { backend: 2 }',
      on: [
        ...['backend 3000 127.0.0.1:3201', 'backend-2 3000 127.0.0.1:3202', 'caddy 3000 0.0.0.0:3000'],
        ...['frontend 8888 0.0.0.0:8888', 'remote-mcp 3001 0.0.0.0:3001'],
      ],
    },
    {
      what: 'the front with one host name, and the backend for this machine alone',
      yaml: `bind: 0.0.0.0\n${own} tls: files, cert: a.pem, key: b.pem }`,
      on: ['backend 3000 127.0.0.1:3000', 'caddy 8443 0.0.0.0:443', 'caddy 8080 0.0.0.0:80'],
    },
    {
      what: 'no port for TLS, where another front has the certificate',
      yaml: `${own} tls: none }`,
      on: ['backend 3000 127.0.0.1:3000', 'caddy 8080 127.0.0.1:80'],
    },
  ])('publishes $what, and nothing else', ({ yaml, on }) => {
    const published = plannedFrom(yaml).flatMap(({ part, options }) => {
      const bindings = options.HostConfig?.PortBindings as Readonly<Record<string, readonly Binding[]>>;
      return Object.entries(bindings).flatMap(([inside, at]) =>
        at.map(({ HostIp, HostPort }) => `${part.name} ${inside.replace('/tcp', '')} ${HostIp}:${HostPort}`),
      );
    });
    expect(published.sort()).toEqual([...on].sort());
  });

  test("gives each runtime a volume and more room, and lets it read what svc.yaml allows, except the platform's own folders", () => {
    const plan = plannedFrom('replicas: { runtime: 2 }\nruntime: { allowedPaths: [/srv, /srv/documents] }');
    const { volume, options } = containerOf(plan, 'runtime-2');
    const { Binds, Memory, PidsLimit, Tmpfs } = options.HostConfig ?? {};
    expect([volume, Memory, PidsLimit]).toEqual([`${prefix}-runtime-2`, 2048 * 1024 * 1024, 1024]);
    expect(Binds).toEqual(expect.arrayContaining(['/srv:/srv:ro', '/srv/documents:/srv/documents:ro']));
    const { '/tmp': _own, ...hidden } = Tmpfs ?? {};
    expect(Object.keys(hidden)).toEqual(['secrets', 'data', 'state', 'logs'].map((name) => `/srv/svc/${name}`));
    expect(Object.values(hidden)).toEqual(Array(4).fill(expect.stringMatching(/^ro,/)));
  });
});

test('Dgraph is provisioned by a container in its network, which has the secrets that it takes as files', () => {
  const of = planFrom(dgraph);
  const { HostConfig, ...options } = taskOptions(provisionerOf(of, '1000:1000'), of);
  expect(options).toMatchObject({
    name: `${prefix}-provision-graph`,
    User: '1000:1000',
    Entrypoint: [
      ...['node', '/svc/dist/stack/engines/docker/provision-graph/main.js', 'http://dgraph-alpha:8080', '300000'],
      ...['acl', 'password', 'administrator'].map((name) => `/run/svc/graphdb-${name}.key`),
    ],
  });
  expect(HostConfig).toMatchObject({
    ...{ ReadonlyRootfs: true, CapDrop: ['ALL'], CapAdd: [], SecurityOpt: ['no-new-privileges'], PidsLimit: 64 },
    Binds: ['/srv/svc/state/containers/provision-graph:/run/svc:ro,Z'],
    NetworkMode: graph,
  });
});

describe('the hash of a configuration', () => {
  test('stays while nothing changes, and differs for parts that something concerns', () => {
    const shorter = 'limits: { sessionIdleTimeoutMs: 60000 }';
    expect(hashOf('', 'remote-mcp')).toBe(hashOf('', 'remote-mcp'));
    expect(hashOf(shorter, 'remote-mcp')).not.toBe(hashOf('', 'remote-mcp'));
    expect(hashOf(shorter, 'backend')).toBe(hashOf('', 'backend'));
  });

  test('depends on contents of secrets and ids of images, and reveals neither', () => {
    const otherKey = { fingerprintOf: (file: string) => `another of ${file}` };
    expect(hashOf('', 'backend', otherKey)).not.toBe(hashOf('', 'backend'));
    expect(hashOf('', 'frontend', otherKey)).toBe(hashOf('', 'frontend'));
    const newIds = { [facts.serviceImage]: 'sha256:9', 'nats:2.15.0-alpine': 'sha256:9' };
    const otherImage = { images: { ...facts.images, ...newIds } };
    expect(hashOf('', 'nats', otherImage)).not.toBe(hashOf('', 'nats'));
    expect(hashOf('', 'backend', otherImage)).toBe(hashOf('', 'backend'));
  });
});
