import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkFront } from '../engines/process/check-programs.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { caddyfile, caddyfileValues } from './caddy.ts';

const upstreams = {
  'remote-mcp': ['127.0.0.1:3001', '127.0.0.1:3102'],
  backend: ['127.0.0.1:3000'],
  frontend: ['127.0.0.1:8888'],
};
const publicOf = (yaml: string) => definitionOf(`topology: distributed\npublic: ${yaml}`).public;
const open = publicOf(
  '{ host: agents.example.com, tls: acme, acme: { email: ops@example.com, directory: "https://ca.example.com/directory", ca: secrets/ca.pem } }',
);
const oneHost = { public: open, httpPort: 80, httpsPort: 443, origin: 'https://agents.example.com' };
const shared = { bind: '127.0.0.1', ports: { 'remote-mcp': 3001 } };
const storage = 'data/caddy';
const front = { bind: '0.0.0.0', upstreams, shared, storage, oneHost };
const acmeLines = (more: readonly string[], ports: readonly string[]) =>
  ['tls {', '\tissuer acme {', ...[...more, ...ports].map((line) => `\t\t${line}`), '\t}', '}'].join('\n\t\t');

describe('the configuration of the front', () => {
  test('under one host name, with certificates of an authority, is exactly this', () => {
    expect(caddyfileValues(front)).toEqual({
      SITES: 'import shared-remote-mcp\nimport one-host-over-tls',
      BIND: 'tcp4/0.0.0.0',
      SHARED_BIND: 'tcp4/127.0.0.1',
      HOST: 'agents.example.com',
      ORIGIN: 'https://agents.example.com',
      HTTP_PORT: '80',
      HTTPS_PORT: '443',
      TLS: acmeLines(
        ['dir "https://ca.example.com/directory"', 'email "ops@example.com"', 'trusted_roots "secrets/ca.pem"'],
        ['alt_http_port 80', 'alt_tlsalpn_port 443'],
      ),
      AUTO_HTTPS: 'disable_redirects',
      STORAGE: 'data/caddy',
      LOOK_INTERVAL: '100ms',
      REMOTE_MCP: '127.0.0.1:3001 127.0.0.1:3102',
      REMOTE_MCP_PORT: '3001',
      BACKEND: '127.0.0.1:3000',
      BACKEND_PORT: '',
      FRONTEND: '127.0.0.1:8888',
    });
  });

  test('fills every placeholder, and names a service and the number of its processes where none is ready', () => {
    const text = caddyfile(caddyfileValues(front));
    expect(text).not.toMatch(/\$\{/);
    expect(text).toContain('vars count 2\n\tvars none "None of the 2 remote-mcps is ready"');
    expect(text).toContain('vars none "The backend is not ready"');
  });

  test('with certificate files differs in these places', () => {
    const files = publicOf('{ host: a.example.com, tls: files, cert: secrets/a b.pem, key: /etc/a.key }');
    const its = { ...oneHost, public: files, httpPort: 8080, httpsPort: 8443 };
    expect(caddyfileValues({ ...front, bind: '127.0.0.1', oneHost: its })).toEqual({
      ...caddyfileValues(front),
      AUTO_HTTPS: 'off',
      BIND: 'tcp4/127.0.0.1',
      HOST: 'a.example.com',
      HTTP_PORT: '8080',
      HTTPS_PORT: '8443',
      TLS: 'tls "secrets/a b.pem" "/etc/a.key"',
    });
  });

  test('with minimal acme settings uses the usual authority', () => {
    const its = { public: publicOf('{ host: a.example.com, tls: acme }'), httpPort: 8080, httpsPort: 8443 };
    const { TLS } = caddyfileValues({ ...front, oneHost: { ...oneHost, ...its } });
    expect(TLS).toBe(
      acmeLines(
        ['dir "https://acme-v02.api.letsencrypt.org/directory"'],
        ['alt_http_port 8080', 'alt_tlsalpn_port 8443'],
      ),
    );
  });

  test('without TLS has one site for everything', () => {
    const origin = 'http://a.example.com';
    const its = { public: publicOf('{ host: a.example.com }'), httpPort: 80, httpsPort: 0, origin };
    expect(caddyfileValues({ ...front, oneHost: its })).toEqual({
      ...caddyfileValues(front),
      AUTO_HTTPS: 'off',
      HOST: 'a.example.com',
      HTTPS_PORT: '0',
      ORIGIN: origin,
      SITES: 'import shared-remote-mcp\nimport one-host',
      TLS: '',
    });
  });

  test('of several processes of a service has nothing else', () => {
    const ofThree = ['127.0.0.1:3101', '127.0.0.1:3102', '127.0.0.1:3103'];
    const behind = { 'remote-mcp': ofThree, backend: [], frontend: [] };
    const values = caddyfileValues({ bind: '127.0.0.1', upstreams: behind, shared, storage, oneHost: null });
    expect(values).toEqual({
      SITES: 'import shared-remote-mcp',
      STORAGE: 'data/caddy',
      AUTO_HTTPS: 'off',
      BIND: 'tcp4/127.0.0.1',
      SHARED_BIND: 'tcp4/127.0.0.1',
      LOOK_INTERVAL: '100ms',
      REMOTE_MCP: '127.0.0.1:3101 127.0.0.1:3102 127.0.0.1:3103',
      REMOTE_MCP_PORT: '3001',
      ...{ HTTP_PORT: '', HTTPS_PORT: '', HOST: '', ORIGIN: '', TLS: '' },
      ...{ BACKEND: '', BACKEND_PORT: '', FRONTEND: '' },
    });
    expect(caddyfile(values)).toMatch(/\n\nimport shared-remote-mcp\n$/);
  });

  test('has a site for each service with several processes', () => {
    const both = { bind: '0.0.0.0', ports: { 'remote-mcp': 3001, backend: 3000 } };
    const text = caddyfile(caddyfileValues({ ...front, shared: both, oneHost: null }));
    expect(text).toMatch(/\n\nimport shared-remote-mcp\nimport shared-backend\n$/);
    expect(text).toContain('\thttp://:3000 {\n\t\tbind tcp4/0.0.0.0\n');
  });

  test.each([
    ['0.0.0.0', 'tcp4/0.0.0.0'],
    ['192.0.2.1', 'tcp4/192.0.2.1'],
    ['::', '::'],
    ['localhost', 'localhost'],
  ])('on %s listens on %s', (bind, expected) => {
    expect(caddyfile(caddyfileValues({ ...front, bind }))).toContain(`\tdefault_bind ${expected}\n`);
  });

  test('with an unfilled placeholder is refused', () => {
    expect(() => caddyfile({ AUTO_HTTPS: 'off' })).toThrow('Caddyfile has no value for BIND');
  });
});

describe('Caddy', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-front-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const install = (script: string) => {
    writeFileSync(join(dir, 'caddy'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, 'caddy'), 0o755);
  };
  const distributed = 'topology: distributed\n';
  const two = `${distributed}replicas: { remote-mcp: 2 }`;
  const check = (yaml: string) => checkFront(definitionOf(yaml), dir);

  test.each([
    ['replicas.remote-mcp above 1', two],
    ['public.host', `${distributed}public: { host: agents.example.com }`],
    ['replicas.backend above 1', `${distributed}graph: dgraph\nreplicas: { backend: 3 }`],
  ])('is needed for %s: a missing one is refused, with the way to install it', async (field, yaml) => {
    await expect(check(yaml)).rejects.toMatchObject({
      code: 'unavailable',
      message: `${field} needs caddy, which is not on PATH.`,
      hint: expect.stringContaining('the package caddy of your system'),
    });
  });

  test.each(['', distributed, `${distributed}replicas: { runtime: 2 }`])('is not needed for "%s"', (yaml) =>
    check(yaml),
  );

  test('that is too old is refused, with its version', async () => {
    install('[ "$1" = version ] && echo "v2.5.2 h1:abc"');
    await expect(check(two)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir}/caddy" has version 2.5.2, and 2.6 or newer is needed.`,
    });
  });

  test.each(['2.6.2', 'v2.10.0 h1:abc=', 'v3.0.0'])('that prints %s is accepted', (version) => {
    install(`echo "${version}"`);
    return check(two);
  });
});
