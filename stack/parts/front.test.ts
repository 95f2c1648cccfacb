import { describe, expect, test } from 'vitest';
import { caddyfile } from './caddy.ts';
import { listensAt } from './part.ts';
import { partOf, planOf } from './test/planned.ts';

const distributed = 'topology: distributed\n';
const acme =
  'host: agents.example.com, tls: acme, acme: { email: ops@example.com, directory: "https://ca.example.com/directory", ca: secrets/ca.pem }';
const front = `${distributed}bind: 0.0.0.0\nreplicas: { remote-mcp: 2 }\npublic: { ${acme} }`;
const valuesOf = (yaml: string) => partOf(planOf(yaml), 'caddy').variables;
const acmeLines = (...lines: readonly string[]) =>
  ['tls {', '\tissuer acme {', ...lines.map((line) => `\t\t${line}`), '\t}', '}'].join('\n\t\t');

describe('the configuration of the front', () => {
  test('under one host name, with certificates of an authority, is exactly this', () => {
    expect(valuesOf(front)).toEqual({
      SITES: 'import shared-remote-mcp\nimport one-host-over-tls',
      BIND: 'tcp4/0.0.0.0',
      SHARED_BIND: 'tcp4/127.0.0.1',
      HOST: 'agents.example.com',
      ORIGIN: 'https://agents.example.com',
      ...{ KEYS_HOST: '', KEYS_ORIGIN: '' },
      HTTP_PORT: '80',
      HTTPS_PORT: '443',
      TLS: acmeLines(
        ...['dir "https://ca.example.com/directory"', 'email "ops@example.com"', 'trusted_roots "secrets/ca.pem"'],
        ...['alt_http_port 80', 'alt_tlsalpn_port 443'],
      ),
      AUTO_HTTPS: 'disable_redirects',
      STORAGE: 'data/caddy',
      LOOK_INTERVAL: '100ms',
      TRUSTED_PROXIES: '',
      REMOTE_MCP: '127.0.0.1:3101 127.0.0.1:3102',
      REMOTE_MCP_PORT: '3001',
      BACKEND: '127.0.0.1:3000',
      BACKEND_PORT: '',
      FRONTEND: '127.0.0.1:8888',
    });
  });

  test.each([
    ['none', '', 'keys-host'],
    ['files', ', cert: a.pem, key: a.key', 'keys-host-over-tls'],
  ])('with tls: %s, keys have a name of their own', (tls, files, site) => {
    const yaml = `${distributed}public: { host: agents.example.com, tls: ${tls}${files} }\n`;
    expect(valuesOf(`${yaml}publicUrls: { keys: "https://keys.example.com:8443/mcp" }`)).toMatchObject({
      SITES: expect.stringMatching(new RegExp(`\nimport ${site}$`)),
      ...{ KEYS_HOST: 'keys.example.com', KEYS_ORIGIN: 'https://keys.example.com:8443' },
    });
  });

  test('fills every placeholder, and names a service and the number of its processes where none is ready', () => {
    const text = caddyfile(valuesOf(front), 'the-proof');
    expect(text).not.toMatch(/\$\{/);
    expect(text).toContain('header_up Svc-Front the-proof');
    expect(text).toContain('vars service remote-mcp\n\tvars count 2');
  });

  test('with minimal acme settings uses the usual authority', () => {
    const values = valuesOf(
      `${distributed}public: { host: a.example.com, tls: acme, httpsPort: 8443, httpPort: 8080 }`,
    );
    const usual = 'dir "https://acme-v02.api.letsencrypt.org/directory"';
    expect(values.TLS).toBe(acmeLines(usual, 'alt_http_port 8080', 'alt_tlsalpn_port 8443'));
  });

  test.each([
    ['0.0.0.0', 'tcp4/0.0.0.0'],
    ['192.0.2.1', 'tcp4/192.0.2.1'],
    ['::', '::'],
    ['localhost', 'localhost'],
  ])('on %s listens on %s', (bind, expected) => {
    expect(valuesOf(`${distributed}bind: "${bind}"\npublic: { ${acme} }`).BIND).toBe(expected);
  });
});

describe('the front', () => {
  test('of several processes: others find them at the address of a single one', () => {
    const yaml = `${distributed}graph: dgraph\nbind: 0.0.0.0\n`;
    const one = planOf(yaml);
    const plan = planOf(`${yaml}replicas: { backend: 2, remote-mcp: 2 }`);
    expect(one.parts.map(({ name }) => name)).not.toContain('caddy');
    expect(partOf(plan, 'runtime').after).toEqual(['backend', 'backend-2']);
    expect(partOf(plan, 'remote-mcp').variables.PRIVATE_BACKEND_URL).toBe('http://127.0.0.1:3000');
    expect(plan.addresses.public).toEqual(one.addresses.public);
    const caddy = partOf(plan, 'caddy');
    expect(listensAt(caddy)).toEqual(['http://127.0.0.1:3001/ready', 'http://127.0.0.1:3000']);
    expect(caddy).toMatchObject({
      ...{
        url: 'http://127.0.0.1:3001',
        secrets: ['/srv/svc/secrets/encryption.key'],
        after: ['remote-mcp', 'remote-mcp-2', 'backend', 'backend-2'],
      },
      variables: { SITES: 'import shared-remote-mcp\nimport shared-backend', SHARED_BIND: 'tcp4/0.0.0.0' },
    });
  });

  test('of one host name: alone on the address of svc.yaml, with all others on loopback', () => {
    const tls = 'tls: files, cert: secrets/a b.pem, key: /etc/a.key, httpsPort: 8443, httpPort: 8080';
    const { parts } = planOf(
      `${distributed}bind: 0.0.0.0\npublic: { host: a.example.com, ${tls} }\nreplicas: { remote-mcp: 2, runtime: 2 }`,
    );
    const url = 'https://a.example.com:8443';
    const others = parts.filter(({ service }) => service !== 'caddy' && service !== 'nats');
    for (const { name, variables } of others) expect(variables.BIND_HOST, name).toBe('127.0.0.1');
    expect(parts.find(({ name }) => name === 'caddy')).toMatchObject({
      url: 'https://127.0.0.1:8443',
      ready: { kind: 'http', url: 'http://127.0.0.1:8080/ready' },
      after: ['remote-mcp', 'remote-mcp-2', 'backend', 'frontend'],
      secrets: ['/srv/svc/secrets/a b.pem', '/etc/a.key', '/srv/svc/secrets/encryption.key'],
      variables: {
        ...{ ORIGIN: url, HTTP_PORT: '8080', HTTPS_PORT: '8443', STORAGE: 'state/caddy', AUTO_HTTPS: 'off' },
        TLS: 'tls "secrets/a b.pem" "/etc/a.key"',
      },
    });
    const urls = { PUBLIC_BACKEND_URL: url, PUBLIC_MCP_URL: `${url}/mcp` };
    expect(Object.fromEntries(others.map(({ name, variables }) => [name, variables]))).toMatchObject({
      backend: { ...urls, PUBLIC_FRONTEND_URL: url, CORS_ORIGINS: `${url},http://127.0.0.1:8888` },
      'remote-mcp': {
        ...{ ...urls, PRIVATE_BACKEND_URL: 'http://127.0.0.1:3000' },
        SVC_ALLOWED_ORIGINS: `${url},http://127.0.0.1:8888`,
      },
      frontend: urls,
    });
  });

  test('without TLS is asked for its readiness at its own address', () => {
    const plan = planOf(`${distributed}public: { host: a.example.com }`);
    expect(partOf(plan, 'caddy')).toMatchObject({
      url: 'http://127.0.0.1:80',
      ready: { kind: 'http', url: 'http://127.0.0.1:80/ready' },
      secrets: ['/srv/svc/secrets/encryption.key'],
      variables: { SITES: 'import one-host', ORIGIN: 'http://a.example.com' },
    });
    expect(plan.addresses.public.mcp).toBe('http://a.example.com/mcp');
  });
});
