import { describe, expect, test } from 'vitest';
import { labels } from './container-plan.ts';
import { containerOf, facts, plannedFrom } from './test/planned.ts';

const hashOf = (yaml: string, name: string, changed = {}) =>
  containerOf(plannedFrom(yaml, changed), name).options.Labels?.[labels.hash];

describe('what Docker shall have', () => {
  test('is one network, volumes for what keeps data, and a container for each part in the order of their start', () => {
    const { network, volumes, containers } = plannedFrom();
    expect(network).toBe('svc-abcdef0123456789');
    expect(volumes).toEqual(['nats', 'backend', 'runtime'].map((part) => `${network}-${part}`));
    expect(containers.map(({ part }) => part.name)).toEqual(['nats', 'backend', 'runtime', 'frontend', 'remote-mcp']);
  });

  test('is a backend exactly like this', () => {
    const { options, check } = containerOf(plannedFrom(), 'backend');
    expect(check).toEqual([
      'node',
      '/svc/dist/stack/engines/docker/check-ready/main.js',
      'http://127.0.0.1:3000/ready',
    ]);
    expect(options).toEqual({
      name: 'svc-abcdef0123456789-backend',
      Image: 'svc-platform:1.2.3-abc',
      Hostname: 'backend',
      User: '1000:1000',
      Env: [
        'NODE_ENV=production',
        'BIND_HOST=0.0.0.0',
        'LOG_LEVEL=info',
        'BUS_SERVERS=nats://nats:4222',
        'PORT=3000',
        'PRIVATE_GRAPHDB_URL=file:///data/graph.sqlite',
        'ENCRYPTION_KEY_FILE=/run/svc/encryption.key',
        'JWT_PRIVATE_KEY_PATH=/run/svc/jwt-private.pem',
        'JWT_PUBLIC_KEY_PATH=/run/svc/jwt-public.pem',
        'PUBLIC_BACKEND_URL=http://localhost:3000',
        'PUBLIC_FRONTEND_URL=http://localhost:8888',
        'PUBLIC_MCP_URL=http://localhost:3001/mcp',
        'CORS_ORIGINS=http://localhost:8888,http://localhost:3000,http://127.0.0.1:8888',
        'MCP_SERVER_COMMANDS=any',
        'SVC_MAX_FILE_SIZE_MB=10',
        'FILES_DIR=/data/blobs',
        'BUS_PERSISTENT_MESSAGING=true',
        'BUS_CALLOUT_SEED_FILE=/run/svc/bus-callout.seed',
        'BUS_SYSTEM_SEED_FILE=/run/svc/bus-system.seed',
        'BUS_ISSUER_SEED_FILE=/run/svc/bus-issuer.seed',
        'EMAIL_PROVIDER=log',
        'EMAIL_FROM_NAME=The Service Team',
        'PROVIDER_A_TIMEOUT_SECONDS=10',
      ],
      Entrypoint: ['node', '/svc/dist/services/backend/main.js'],
      Cmd: [],
      Healthcheck: { Test: ['CMD', ...check], Interval: 15e9, Timeout: 5e9, Retries: 3, StartPeriod: 60e9 },
      StopTimeout: 10,
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
        'svc.part': 'backend',
        'svc.config-hash': expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
  });

  test('is a NATS that only the others reach, and that knows them by public keys alone', () => {
    const { options, given, check } = containerOf(plannedFrom(), 'nats');
    expect(options.HostConfig?.PortBindings).toEqual({});
    expect(options.ExposedPorts).toBeUndefined();
    expect(options.Entrypoint).toEqual(['nats-server', '-c', '/run/svc/nats.conf']);
    expect(check).toEqual(['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1:8222/healthz']);
    expect(given.map(({ name }) => name)).toEqual(['nats.conf']);
    const text = JSON.stringify(given);
    for (const part of ['0.0.0.0:4222', '127.0.0.1:8222', '/data', 'UC', 'US', 'AI']) expect(text).toContain(part);
  });

  test('gives each part the files that it reads, and no others', () => {
    const plan = plannedFrom();
    const given = (name: string) => containerOf(plan, name).given.map(({ name: file }) => file);
    expect(given('remote-mcp')).toEqual(['system-remote-mcp.key']);
    expect(given('runtime')).toEqual(['system-runtime.key']);
    expect(given('frontend')).toEqual([]);
    expect(containerOf(plan, 'frontend').options.HostConfig?.Binds).toEqual([]);
  });

  test('publishes what people and agents reach, on bind, and nothing else', () => {
    const published = (yaml: string) =>
      plannedFrom(yaml).containers.flatMap(({ part, options }) =>
        Object.entries(options.HostConfig?.PortBindings ?? {}).map(([inside, at]) => [part.name, inside, at]),
      );
    expect(published('bind: 0.0.0.0')).toEqual([
      ['backend', '3000/tcp', [{ HostIp: '0.0.0.0', HostPort: '3000' }]],
      ['frontend', '8888/tcp', [{ HostIp: '0.0.0.0', HostPort: '8888' }]],
      ['remote-mcp', '3001/tcp', [{ HostIp: '0.0.0.0', HostPort: '3001' }]],
    ]);
    const open =
      'bus: { port: 4222, public: { servers: ["nats://bus.example.com:4222"], bind: 0.0.0.0, insecure: true } }';
    expect(published(open)).toContainEqual(['nats', '4222/tcp', [{ HostIp: '0.0.0.0', HostPort: '4222' }]]);
  });

  test('puts a front before several remote-mcps, which are then reached through it alone', () => {
    const plan = plannedFrom('replicas: { remote-mcp: 3 }');
    for (const name of ['remote-mcp', 'remote-mcp-2', 'remote-mcp-3']) {
      expect(containerOf(plan, name).options.HostConfig?.PortBindings).toEqual({});
    }
    const { options, given } = containerOf(plan, 'caddy');
    expect(options.HostConfig?.PortBindings).toEqual({ '3001/tcp': [{ HostIp: '127.0.0.1', HostPort: '3001' }] });
    expect(options.HostConfig?.CapAdd).toEqual(['NET_BIND_SERVICE']);
    expect(JSON.stringify(given)).toContain('remote-mcp:3001 remote-mcp-2:3001 remote-mcp-3:3001');
  });

  test('gives each runtime a volume and more room, and lets it read what svc.yaml allows', () => {
    const plan = plannedFrom('replicas: { runtime: 2 }\nruntime: { allowedPaths: [/srv/documents] }');
    expect(plan.volumes).toContain('svc-abcdef0123456789-runtime-2');
    const { HostConfig } = containerOf(plan, 'runtime-2').options;
    expect(HostConfig?.Binds).toContain('/srv/documents:/srv/documents:ro');
    expect([HostConfig?.Memory, HostConfig?.PidsLimit]).toEqual([2048 * 1024 * 1024, 1024]);
  });
});

describe('the hash of a configuration', () => {
  test('stays while nothing changes, and differs for parts that something concerns', () => {
    const shorter = 'limits: { sessionIdleTimeoutMs: 60000 }';
    expect(hashOf('', 'remote-mcp')).toBe(hashOf('', 'remote-mcp'));
    expect(hashOf(shorter, 'remote-mcp')).not.toBe(hashOf('', 'remote-mcp'));
    expect(hashOf(shorter, 'backend')).toBe(hashOf('', 'backend'));
  });

  test('knows what is in a secret and which image a name is, and tells neither', () => {
    const otherKey = { fingerprintOf: (file: string) => `another of ${file}` };
    expect(hashOf('', 'backend', otherKey)).not.toBe(hashOf('', 'backend'));
    expect(hashOf('', 'frontend', otherKey)).toBe(hashOf('', 'frontend'));
    const otherImage = { imageIds: { ...facts.imageIds, 'nats:2.15.0-alpine': 'sha256:9' } };
    expect(hashOf('', 'nats', otherImage)).not.toBe(hashOf('', 'nats'));
    expect(hashOf('', 'backend', otherImage)).toBe(hashOf('', 'backend'));
  });
});
