import { describe, expect, test } from 'vitest';
import { publicBusKey } from '../../secrets/bus-seeds.ts';
import type { ContainerPlan } from './container-plan.ts';
import { watching } from './health-check.ts';
import { labels, volumesOf } from './names.ts';
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

const networksOf = (plans: readonly ContainerPlan[]) =>
  Object.fromEntries(plans.map(({ part, networks }) => [part.name, networks]));

describe('what Docker shall have', () => {
  test('has networks, volumes for parts with data, and a container for each part in start order', () => {
    const plan = planFrom();
    const network = 'svc-abcdef0123456789';
    const Labels = { 'svc.installation': 'abcdef0123456789' };
    expect(networkPlansOf(plan.definition)).toEqual([
      { Name: network, Driver: 'bridge', CheckDuplicate: true, Labels },
      {
        ...{ Name: `${network}-bus`, Driver: 'bridge', CheckDuplicate: true, Internal: true, Labels },
        Options: { 'com.docker.network.bridge.inhibit_ipv4': 'true' },
      },
    ]);
    expect(volumesOf(plan)).toEqual(['backend', 'runtime', 'nats'].map((part) => `${network}-${part}`));
    const inStartOrder = ['nats', 'backend', 'runtime', 'frontend', 'remote-mcp'];
    expect(plannedFrom().map(({ part }) => part.name)).toEqual(inStartOrder);
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
      Env: [
        'NODE_ENV=production',
        'BIND_HOST=0.0.0.0',
        'PORT=3000',
        'MCP_SERVER_COMMANDS=any',
        'SVC_MAX_FILE_SIZE_MB=10',
        'HISTORY_DAYS=365',
        'EMAIL_PROVIDER=log',
        'EMAIL_FROM_NAME=The Service Team',
        'PROVIDER_A_TIMEOUT_SECONDS=10',
        'LOG_LEVEL=info',
        'BUS_SERVERS=nats://nats:4222',
        'BUS_PERSISTENT_MESSAGING=true',
        'BUS_CALLOUT_SEED_FILE=/run/svc/bus-callout.seed',
        'BUS_SYSTEM_SEED_FILE=/run/svc/bus-system.seed',
        'BUS_ISSUER_SEED_FILE=/run/svc/bus-issuer.seed',
        'PRIVATE_GRAPHDB_URL=file:///data/graph.sqlite',
        'FILES_DIR=/data/blobs',
        'ENCRYPTION_KEY_FILE=/run/svc/encryption.key',
        'JWT_PRIVATE_KEY_PATH=/run/svc/jwt-private.pem',
        'JWT_PUBLIC_KEY_PATH=/run/svc/jwt-public.pem',
        'PUBLIC_BACKEND_URL=http://localhost:3000',
        'PUBLIC_FRONTEND_URL=http://localhost:8888',
        'PUBLIC_MCP_URL=http://localhost:3001/mcp',
        'CORS_ORIGINS=http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888',
      ],
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

  test('is a NATS that only the others reach, and that knows them by public keys alone', () => {
    const { options, given, check } = containerOf(plannedFrom(), 'nats');
    expect(options.ExposedPorts).toBeUndefined();
    expect(options.Entrypoint).toEqual(['nats-server', '-c', '/run/svc/nats.conf']);
    expect(check).toEqual(['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1:8222/healthz']);
    expect(given.map(({ name }) => name)).toEqual(['nats.conf']);
    const text = JSON.stringify(given);
    const keys = ['callout', 'system', 'issuer'].map((name) => publicBusKey(facts.readSecret(`bus-${name}.seed`)));
    for (const part of ['0.0.0.0:4222', '127.0.0.1:8222', '/data', ...keys]) expect(text).toContain(part);
    expect(text).not.toContain(facts.readSecret('bus-issuer.seed'));
  });

  test('has the bus in a network that leads nowhere, unless runtimes elsewhere come to it', () => {
    const [platform, bus] = ['svc-abcdef0123456789', 'svc-abcdef0123456789-bus'];
    const both = [platform, bus];
    const all = { backend: both, runtime: both, 'remote-mcp': both, frontend: [platform] };
    expect(networksOf(plannedFrom())).toEqual({ ...all, nats: [bus] });
    const open = 'bus: { port: 4222, public: { servers: ["nats://bus.example.com:4222"], insecure: true } }\n';
    expect(networksOf(plannedFrom(open))).toEqual({ ...all, nats: both });
    const outside = 'bus: { servers: ["nats://bus.example.com:4222"] }\n';
    expect(networkPlansOf(planFrom(outside).definition).map(({ Name }) => Name)).toEqual([platform]);
    expect(new Set(plannedFrom(outside).flatMap(({ networks }) => networks))).toEqual(new Set([platform]));
  });

  test('is several nodes of NATS that know each other by name and secret, each on a volume of its own', () => {
    const plan = plannedFrom('replicas: { nats: 3 }');
    const nodes = ['nats', 'nats-2', 'nats-3'];
    // A single node has the volume `nats`, because it cannot read what a cluster wrote, and a cluster cannot read its data.
    const ofNodes = ['nats-1', 'nats-2', 'nats-3'].map((name) => `svc-abcdef0123456789-${name}`);
    for (const [index, name] of nodes.entries()) {
      const { given, networks, options } = containerOf(plan, name);
      const [first, second] = nodes.filter((other) => other !== name).map((other) => `node:the-routes@${other}:6222`);
      const text = JSON.stringify(given).replaceAll('\\"', '');
      expect(text).toContain(`listen: 0.0.0.0:6222`);
      expect(text).toContain(`routes: [nats-route://${first},nats-route://${second}]`);
      expect(text).toContain(`server_name: svc-abcdef0123456789${index === 0 ? '' : `-${index + 1}`}`);
      expect(networks).toEqual(['svc-abcdef0123456789-bus']);
      expect(options.HostConfig?.Binds?.[0]).toBe(`${ofNodes[index]}:/data:nocopy`);
    }
    const servers = 'BUS_SERVERS=nats://nats:4222,nats://nats-2:4222,nats://nats-3:4222';
    for (const name of ['backend', 'remote-mcp', 'runtime'])
      expect(containerOf(plan, name).options.Env).toContain(servers);
  });

  test('gives each part the files that it reads, and no others', () => {
    const plan = plannedFrom();
    const given = (name: string) => containerOf(plan, name).given.map(({ name: file }) => file);
    expect(given('remote-mcp')).toEqual(['system-remote-mcp.key']);
    expect(given('runtime')).toEqual(['system-runtime.key']);
    expect(given('frontend')).toEqual([]);
    expect(containerOf(plan, 'frontend').options.HostConfig?.Binds).toEqual([]);
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

  test('puts a front before several remote-mcps and backends', () => {
    const ofMcps = containerOf(plannedFrom('replicas: { remote-mcp: 3 }'), 'caddy');
    expect(ofMcps.options.HostConfig?.CapAdd).toEqual(['NET_BIND_SERVICE']);
    expect(JSON.stringify(ofMcps.given)).toContain('remote-mcp:3001 remote-mcp-2:3001 remote-mcp-3:3001');
    const plan = plannedFrom('graph: dgraph\nreplicas: { backend: 2 }');
    const { given, check } = containerOf(plan, 'caddy');
    expect(JSON.stringify(given)).toContain('reverse_proxy backend:3000 backend-2:3000');
    expect(check.at(-1)).toBe('http://127.0.0.1:3000/ready');
    expect(containerOf(plan, 'remote-mcp').options.Env).toContain('PRIVATE_BACKEND_URL=http://caddy:3000');
  });

  describe('with one host name', () => {
    const frontOf = (more: string) =>
      containerOf(plannedFrom(`bind: 0.0.0.0\npublic: { host: agents.example.com, ${more} }\n`), 'caddy');

    test('gives the front copies of its certificate, under names of their own', () => {
      const { given, volume, check } = frontOf('tls: files, cert: secrets/a/own.pem, key: secrets/b/own.pem');
      const [text, ...files] = given;
      const own = expect.stringMatching(/^[0-9a-f]{8}-own\.pem$/);
      expect(files).toEqual([
        { name: own, content: { copyOf: '/srv/svc/secrets/a/own.pem' } },
        { name: own, content: { copyOf: '/srv/svc/secrets/b/own.pem' } },
      ]);
      const [cert, key] = files.map(({ name }) => name);
      expect(cert).not.toBe(key);
      for (const part of [
        `tls \\"/run/svc/${cert}\\" \\"/run/svc/${key}\\"`,
        'https://agents.example.com:8443',
        'reverse_proxy backend:3000',
        'reverse_proxy frontend:8888',
        'reverse_proxy remote-mcp:3001',
        'redir https://agents.example.com{uri}',
      ])
        expect(JSON.stringify(text)).toContain(part);
      expect([volume, check.at(-1)]).toEqual([null, 'http://127.0.0.1:8080/ready']);
    });

    test('keeps the certificates of an authority, and gets a copy of its root', () => {
      const { given, options, volume } = frontOf('tls: acme, acme: { ca: secrets/ca.pem }');
      expect(volume).toBe('svc-abcdef0123456789-caddy');
      expect(options.HostConfig?.Binds?.[0]).toBe('svc-abcdef0123456789-caddy:/data:nocopy');
      expect(given.map(({ name }) => name)).toEqual(['Caddyfile', 'ca.pem']);
      const settings = ['storage file_system /data', 'trusted_roots \\"/run/svc/ca.pem\\"', 'alt_tlsalpn_port 8443'];
      for (const setting of settings) expect(JSON.stringify(given[0])).toContain(setting);
    });
  });

  test('gives each runtime a volume and more room, and lets it read what svc.yaml allows', () => {
    const plan = plannedFrom('replicas: { runtime: 2 }\nruntime: { allowedPaths: [/srv/documents] }');
    const { volume, options } = containerOf(plan, 'runtime-2');
    const { HostConfig } = options;
    expect(volume).toBe('svc-abcdef0123456789-runtime-2');
    expect(HostConfig?.Binds).toContain('/srv/documents:/srv/documents:ro');
    expect(Object.keys(HostConfig?.Tmpfs ?? {})).toEqual(['/tmp']);
    expect([HostConfig?.Memory, HostConfig?.PidsLimit]).toEqual([2048 * 1024 * 1024, 1024]);
  });
});

test("the platform's own folders are hidden below allowed paths", () => {
  const plan = plannedFrom('runtime: { allowedPaths: [/srv, /srv/svc] }');
  const { '/tmp': _own, ...hidden } = containerOf(plan, 'runtime').options.HostConfig?.Tmpfs ?? {};
  expect(Object.keys(hidden)).toEqual(['secrets', 'data', 'state', 'logs'].map((name) => `/srv/svc/${name}`));
  expect(Object.values(hidden)).toEqual(Array(4).fill(expect.stringMatching(/^ro,/)));
});

describe('Dgraph', () => {
  const plan = plannedFrom('graph: dgraph\n');
  const network = 'svc-abcdef0123456789';
  const given = (name: string) => containerOf(plan, name).given;

  test('has its data, and a network that leads nowhere and has only the backend beside its nodes', () => {
    const keeping = ['nats', 'dgraph-zero', 'dgraph-alpha', 'runtime'];
    expect(plan.flatMap(({ volume }) => volume ?? [])).toEqual(keeping.map((part) => `${network}-${part}`));
    expect(networkPlansOf(planFrom('graph: dgraph\n').definition).at(-1)).toEqual({
      ...{ Name: `${network}-graph`, Driver: 'bridge', CheckDuplicate: true, Internal: true },
      Options: { 'com.docker.network.bridge.inhibit_ipv4': 'true' },
      Labels: { 'svc.installation': 'abcdef0123456789' },
    });
    expect(networksOf(plan)).toEqual({
      ...{ 'dgraph-zero': [`${network}-graph`], 'dgraph-alpha': [`${network}-graph`] },
      backend: [network, `${network}-bus`, `${network}-graph`],
      ...{ nats: [`${network}-bus`], runtime: [network, `${network}-bus`], 'remote-mcp': [network, `${network}-bus`] },
      frontend: [network],
    });
  });

  test('is a data node exactly like this', () => {
    const { options, check } = containerOf(plan, 'dgraph-alpha');
    expect(check).toEqual(['curl', '-sS', '-f', '-m', '4', '-o', '/dev/null', 'http://127.0.0.1:8080/health']);
    expect(options).toMatchObject({
      name: `${network}-dgraph-alpha`,
      Image: 'dgraph/dgraph:v25.4.0',
      User: '1000:1000',
      Env: ['TZ=UTC', 'GRPC_ENABLE_TXT_SERVICE_CONFIG=false', 'GOMEMLIMIT=384MiB'],
      Entrypoint: ['dgraph', 'alpha', '--config', '/run/svc/dgraph-alpha.yaml'],
      Cmd: [],
      HostConfig: {
        Binds: [`${network}-dgraph-alpha:/data:nocopy`, '/srv/svc/state/containers/dgraph-alpha:/run/svc:ro,Z'],
        NetworkMode: `${network}-graph`,
        PortBindings: {},
        ...{ ReadonlyRootfs: true, CapDrop: ['ALL'], CapAdd: [], SecurityOpt: ['no-new-privileges'] },
        ...{ Memory: 1536 * 1024 * 1024, PidsLimit: 512 },
      },
      NetworkingConfig: { EndpointsConfig: { [`${network}-graph`]: { Aliases: ['dgraph-alpha'] } } },
    });
    expect(options.ExposedPorts).toBeUndefined();
  });

  test('listens under the names of its nodes, and lets its network administer, with the token', () => {
    const [text, ...files] = given('dgraph-alpha');
    expect(files).toEqual([{ name: 'graphdb-acl.key', content: { copyOf: '/srv/svc/secrets/graphdb-acl.key' } }]);
    const lines = (file: unknown) => JSON.stringify(file).split('\\n');
    for (const line of [
      'bindall: true',
      'my: \\"dgraph-alpha:7080\\"',
      'zero: \\"dgraph-zero:5080\\"',
      'port_offset: 0',
      'postings: \\"/data/p\\"',
      'survive: \\"filesystem\\"',
      'acl: \\"secret-file=/run/svc/graphdb-acl.key\\"',
      'security: \\"token=the-token; whitelist=172.18.0.0/16;\\"',
      'tls: \\"use-system-ca=false;\\"',
      'telemetry: \\"reports=false; sentry=false\\"',
    ])
      expect(lines(text)).toContain(line);
    expect(given('dgraph-zero').map(({ name }) => name)).toEqual(['dgraph-zero.yaml']);
    expect(lines(given('dgraph-zero'))).toContain('my: \\"dgraph-zero:5080\\"');
    const newer = plannedFrom('graph: dgraph\nimages: { dgraph: "dgraph/dgraph:v25.5.1" }\n');
    expect(JSON.stringify(containerOf(newer, 'dgraph-alpha').given)).toContain('172.18.0.0/16; anonymous=none');
  });

  test('of several nodes knows all of them by name, each with a volume of its own', () => {
    const several = plannedFrom('graph: dgraph\nreplicas: { dgraph-zero: 3, dgraph-alpha: 2 }\n');
    const zeros = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3'];
    const nodes = [...zeros, 'dgraph-alpha', 'dgraph-alpha-2'];
    const said = (name: string) => JSON.stringify(containerOf(several, name).given[0]).replaceAll('\\"', '');
    const peers = zeros.map((name, index) => {
      expect(said(name)).toContain(`my: ${name}:5080\\nport_offset: 0\\nwal: /data\\n`);
      expect(said(name)).toContain(`raft: idx=${index + 1}\\n`);
      return /peer: ([a-z0-9:-]*)/.exec(said(name))?.[1];
    });
    // The first node founds the cluster.
    expect(peers).toEqual(['', 'dgraph-zero:5080', 'dgraph-zero:5080']);
    const ofAlpha = 'my: dgraph-alpha-2:7080\\nzero: dgraph-zero:5080,dgraph-zero-2:5080,dgraph-zero-3:5080\\n';
    expect(said('dgraph-alpha-2')).toContain(ofAlpha);
    for (const name of nodes) {
      const { networks, options } = containerOf(several, name);
      expect([name, networks, options.HostConfig?.PortBindings]).toEqual([name, [`${network}-graph`], {}]);
      expect(options.HostConfig?.Binds?.[0]).toBe(`${network}-${name}:/data:nocopy`);
    }
    const addresses = 'PRIVATE_GRAPHDB_GRPC_URL=dgraph-alpha:9080,dgraph-alpha-2:9080';
    expect(containerOf(several, 'backend').options.Env).toContain(addresses);
  });

  test('is where the backend looks for it', () => {
    const { options, given: files } = containerOf(plan, 'backend');
    expect(options.Env).toContain('PRIVATE_GRAPHDB_URL=http://dgraph-alpha:8080');
    expect(options.Env).toContain('PRIVATE_GRAPHDB_GRPC_URL=dgraph-alpha:9080');
    const names = files.map(({ name }) => name);
    expect(names).toContain('graphdb-password.key');
    expect(names).not.toContain('graphdb-administrator.key');
  });

  test('is provisioned by a container in its network, which has the secrets that it takes as files', () => {
    const of = planFrom('graph: dgraph\n');
    const { HostConfig, ...options } = taskOptions(provisionerOf(of, '1000:1000'), of);
    expect(options).toMatchObject({
      name: `${network}-provision-graph`,
      User: '1000:1000',
      Entrypoint: [
        ...['node', '/svc/dist/stack/engines/docker/provision-graph/main.js', 'http://dgraph-alpha:8080', '300000'],
        ...['acl', 'password', 'administrator'].map((name) => `/run/svc/graphdb-${name}.key`),
      ],
    });
    expect(HostConfig).toMatchObject({
      ...{ ReadonlyRootfs: true, CapDrop: ['ALL'], CapAdd: [], SecurityOpt: ['no-new-privileges'], PidsLimit: 64 },
      Binds: ['/srv/svc/state/containers/provision-graph:/run/svc:ro,Z'],
      NetworkMode: `${network}-graph`,
    });
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
