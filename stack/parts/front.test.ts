import { describe, expect, test } from 'vitest';
import { planFor } from '../engines/plan-of.ts';
import { usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { caddyfile } from './caddy.ts';

const ports = {
  ...usualPorts,
  ...{ 'remote-mcp-1': 3101, 'remote-mcp-2': 3102, 'remote-mcp-3': 3103 },
  ...{ 'backend-1': 3201, 'backend-2': 3202, 'caddy-http': 80, 'caddy-https': 443 },
};

/** The values of the proxy of a platform with separate processes. */
function valuesOf(yaml: string, claimed: Readonly<Record<string, number>> = {}): Readonly<Record<string, string>> {
  const definition = definitionOf(`topology: distributed\n${yaml}`);
  const { parts } = planFor(installationIn('/srv/svc'), definition, { ...ports, ...claimed });
  return parts.find(({ service }) => service === 'caddy')?.variables ?? expect.fail();
}

const several = 'bind: 0.0.0.0\nreplicas: { remote-mcp: 2 }\n';
const acme =
  'host: agents.example.com, tls: acme, acme: { email: ops@example.com, directory: "https://ca.example.com/directory", ca: secrets/ca.pem }';
const front = `${several}public: { ${acme} }`;
const acmeLines = (more: readonly string[], ports: readonly string[]) =>
  ['tls {', '\tissuer acme {', ...[...more, ...ports].map((line) => `\t\t${line}`), '\t}', '}'].join('\n\t\t');

describe('the configuration of the front', () => {
  test('under one host name, with certificates of an authority, is exactly this', () => {
    expect(valuesOf(front)).toEqual({
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
      REMOTE_MCP: '127.0.0.1:3101 127.0.0.1:3102',
      REMOTE_MCP_PORT: '3001',
      BACKEND: '127.0.0.1:3000',
      BACKEND_PORT: '',
      FRONTEND: '127.0.0.1:8888',
    });
  });

  test('fills every placeholder, and names a service and the number of its processes where none is ready', () => {
    const text = caddyfile(valuesOf(front));
    expect(text).not.toMatch(/\$\{/);
    expect(text).toContain('vars service remote-mcp\n\tvars count 2');
  });

  test('with certificate files differs in these places', () => {
    const files = 'host: a.example.com, tls: files, cert: secrets/a b.pem, key: /etc/a.key';
    const values = valuesOf(`replicas: { remote-mcp: 2 }\npublic: { ${files} }`, {
      'caddy-http': 8080,
      'caddy-https': 8443,
    });
    expect(values).toEqual({
      ...valuesOf(front),
      AUTO_HTTPS: 'off',
      BIND: 'tcp4/127.0.0.1',
      HOST: 'a.example.com',
      ORIGIN: 'https://a.example.com:8443',
      HTTP_PORT: '8080',
      HTTPS_PORT: '8443',
      STORAGE: 'state/caddy',
      TLS: 'tls "secrets/a b.pem" "/etc/a.key"',
    });
  });

  test('with minimal acme settings uses the usual authority', () => {
    const claimed = { 'caddy-http': 8080, 'caddy-https': 8443 };
    expect(valuesOf('public: { host: a.example.com, tls: acme }', claimed).TLS).toBe(
      acmeLines(
        ['dir "https://acme-v02.api.letsencrypt.org/directory"'],
        ['alt_http_port 8080', 'alt_tlsalpn_port 8443'],
      ),
    );
  });

  test('without TLS has one site for everything', () => {
    expect(valuesOf(`${several}public: { host: a.example.com }`)).toEqual({
      ...valuesOf(front),
      AUTO_HTTPS: 'off',
      HOST: 'a.example.com',
      ORIGIN: 'http://a.example.com',
      SITES: 'import shared-remote-mcp\nimport one-host',
      STORAGE: 'state/caddy',
      TLS: '',
    });
  });

  test('of several processes of a service has nothing else', () => {
    const values = valuesOf('replicas: { remote-mcp: 3 }');
    expect(values).toEqual({
      SITES: 'import shared-remote-mcp',
      STORAGE: 'state/caddy',
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
    const text = caddyfile(valuesOf('bind: 0.0.0.0\ngraph: dgraph\nreplicas: { remote-mcp: 2, backend: 2 }'));
    expect(text).toMatch(/\n\nimport shared-remote-mcp\nimport shared-backend\n$/);
    expect(text).toContain('\thttp://:3000 {\n\t\tbind tcp4/0.0.0.0\n');
  });

  test.each([
    ['0.0.0.0', 'tcp4/0.0.0.0'],
    ['192.0.2.1', 'tcp4/192.0.2.1'],
    ['::', '::'],
    ['localhost', 'localhost'],
  ])('on %s listens on %s', (bind, expected) => {
    const text = caddyfile(valuesOf(`bind: "${bind}"\npublic: { ${acme} }`));
    expect(text).toContain(`\tdefault_bind ${expected}\n`);
  });
});
