import { describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { addressesOf } from './addresses.ts';
import { checkDefinition } from './check.ts';
import { usualPorts } from './ports.ts';

const distributed = 'topology: distributed\n';
const definitionOf = (yaml: string) => checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml');

function refusal(yaml: string): readonly string[] {
  try {
    definitionOf(yaml);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'invalid_input') return error.message.split('\n');
    throw error;
  }
  throw new Error('nothing was refused');
}

const host = 'host: agents.example.com';
const files = 'tls: files, cert: a.pem, key: a.key';

describe('one host name', () => {
  const publicOf = (yaml: string, ports = {}) =>
    addressesOf(definitionOf(distributed + yaml), { ...usualPorts, ...ports }).public;

  test('is the address of everything', () => {
    expect(publicOf(`public: { ${host}, ${files} }`, { 'caddy-https': 443 })).toEqual({
      backend: 'https://agents.example.com',
      mcp: 'https://agents.example.com/mcp',
      frontend: 'https://agents.example.com',
    });
  });

  test('includes the port, unless it is the usual one of the scheme', () => {
    expect(publicOf(`public: { ${host}, tls: acme, httpsPort: 8443 }`, { 'caddy-https': 8443 }).mcp).toBe(
      'https://agents.example.com:8443/mcp',
    );
    expect(publicOf(`public: { ${host} }`, { 'caddy-http': 80 }).mcp).toBe('http://agents.example.com/mcp');
    expect(publicOf(`public: { ${host}, httpPort: 8080 }`, { 'caddy-http': 8080 }).backend).toBe(
      'http://agents.example.com:8080',
    );
  });

  test('keeps addresses set by hand: another proxy may be in front', () => {
    const yaml = `public: { ${host}, httpPort: 8080 }\npublicUrls: { mcp: https://agents.example.com/mcp, frontend: https://agents.example.com/ }`;
    expect(publicOf(yaml, { 'caddy-http': 8080 })).toEqual({
      backend: 'http://agents.example.com:8080',
      mcp: 'https://agents.example.com/mcp',
      frontend: 'https://agents.example.com',
    });
  });

  test('exposes only the proxy', () => {
    const { local } = addressesOf(definitionOf(`${distributed}bind: 0.0.0.0\npublic: { ${host} }`), usualPorts);
    expect(local.backend).toBe('http://127.0.0.1:3000');
    expect(addressesOf(definitionOf(`${distributed}bind: 192.0.2.1`), usualPorts).local.backend).toBe(
      'http://192.0.2.1:3000',
    );
  });
});

describe('a mistake in public is reported with its place and its rule', () => {
  const rows: readonly [what: string, yaml: string, told: string][] = [
    [
      'TLS without a name',
      'public: { tls: acme }',
      'svc.yaml:3:16 public.tls acme needs public.host, the name that the certificate is for.',
    ],
    [
      'no certificate',
      `public: { ${host}, tls: files, key: a.key }`,
      'svc.yaml:3:42 public.tls files needs public.cert.',
    ],
    ['no key', `public: { ${host}, tls: files, cert: a.pem }`, 'svc.yaml:3:42 public.tls files needs public.key.'],
    [
      'a certificate that is not used',
      `public: { ${host}, cert: a.pem }`,
      'svc.yaml:3:43 public.cert is for tls: files, and public.tls is none.',
    ],
    [
      'the address of an authority that is not used',
      `public: { ${host}, ${files}, acme: { email: a@example.com } }`,
      'svc.yaml:3:89 public.acme.email is for tls: acme, and public.tls is files.',
    ],
    [
      'an address for acme',
      'public: { host: 192.0.2.1, tls: acme }',
      'svc.yaml:3:17 public.host must be a public name for tls: acme, not "192.0.2.1".',
    ],
    [
      'localhost for acme',
      'public: { host: localhost, tls: acme }',
      'svc.yaml:3:17 public.host must be a public name for tls: acme, not "localhost".',
    ],
    [
      'a URL',
      'public: { host: "https://agents.example.com" }',
      'svc.yaml:3:17 public.host must be a name such as agents.example.com, in small letters, or null, not "https://agents.example.com".',
    ],
    [
      'a name that is many',
      'public: { host: "*.example.com" }',
      'svc.yaml:3:17 public.host must be a name such as agents.example.com, in small letters, or null, not "*.example.com".',
    ],
    [
      'another kind of TLS',
      `public: { ${host}, tls: auto }`,
      'svc.yaml:3:42 public.tls must be one of none, files, acme, not "auto".',
    ],
    [
      'a directory without TLS',
      `public: { ${host}, tls: acme, acme: { directory: "http://ca.example.com" } }`,
      'svc.yaml:3:67 public.acme.directory must be an https address without quotes and braces, not "http://ca.example.com".',
    ],
    [
      'a path that would end what it stands in',
      `public: { ${host}, tls: files, cert: 'a" {', key: a.key }`,
      'svc.yaml:3:55 public.cert must be the path of a PEM file, without quotes, braces and backslashes, or null, not "a\\" {".',
    ],
    [
      'a mistyped field',
      `public: { ${host}, tsl: acme }`,
      'svc.yaml:3:37 "public.tsl" is not a field. Did you mean "tls"?',
    ],
    [
      'an address that is not answered here',
      `public: { ${host} }\npublicUrls: { backend: https://api.example.com }`,
      'svc.yaml:4:24 publicUrls.backend must have the host and the path of http://agents.example.com with public.host, or be auto.',
    ],
    [
      'a path that is not answered here',
      `public: { ${host} }\npublicUrls: { mcp: https://agents.example.com/agents }`,
      'svc.yaml:4:20 publicUrls.mcp must have the host and the path of http://agents.example.com/mcp with public.host, or be auto.',
    ],
  ];
  for (const [what, yaml, told] of rows) test(what, () => expect(refusal(distributed + yaml)).toEqual([told]));

  test('one process', () => {
    expect(refusal(`public: { ${host} }`)).toEqual([
      'svc.yaml:2:17 public.host needs topology: distributed. With topology: embedded there is one process, which cannot supervise Caddy.',
    ]);
  });
});
