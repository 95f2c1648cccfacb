import { describe, expect, test } from 'vitest';
import { addressesOf } from './addresses.ts';
import { usualPorts } from './ports.ts';
import { definitionOf, refusalOf } from './test/definition-of.ts';

const distributed = 'topology: distributed\n';

const host = 'host: agents.example.com';
const files = 'tls: files, cert: a.pem, key: a.key';

describe('one host name', () => {
  test('is the address of everything, except for addresses set by hand: another proxy may be in front', () => {
    const yaml = `public: { ${host}, httpPort: 8080 }\npublicUrls: { mcp: https://agents.example.com/mcp, frontend: https://agents.example.com/ }`;
    const ports = { ...usualPorts, 'caddy-http': 8080 };
    expect(addressesOf(definitionOf(distributed + yaml), ports).public).toEqual({
      backend: 'http://agents.example.com:8080',
      mcp: 'https://agents.example.com/mcp',
      frontend: 'https://agents.example.com',
      keys: null,
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

describe('the address for keys alone', () => {
  const keysIn = (yaml: string) => addressesOf(definitionOf(yaml), usualPorts).public.keys;

  test.each([
    ['publicUrls: { keys: null }', null],
    ['publicUrls: { keys: auto }', 'http://127.0.0.1:3001/mcp'],
    ['bind: 0.0.0.0\npublicUrls: { keys: auto }', 'http://127.0.0.1:3001/mcp'],
    ['publicUrls: { keys: "http://localhost:4001/mcp" }', 'http://localhost:4001/mcp'],
    [
      `${distributed}public: { ${host} }\npublicUrls: { keys: "https://keys.example.com/mcp" }`,
      'https://keys.example.com/mcp',
    ],
  ])('%j', (yaml, expected) => expect(keysIn(yaml)).toBe(expected));

  const own = 'publicUrls.keys must have a host name of its own with public.host: https://keys.example.com/mcp.';
  test.each(
    Object.entries({
      'bind: localhost\npublicUrls: { keys: auto }':
        'svc.yaml:4:21 publicUrls.keys must have another host or port than publicUrls.mcp, which is at localhost:3001 too.',
      'publicUrls: { keys: "http://localhost:3000/mcp" }':
        'svc.yaml:3:21 publicUrls.keys must have another host or port than publicUrls.backend, which is at localhost:3000 too.',
      'publicUrls: { keys: keys.example.com }':
        'svc.yaml:3:21 publicUrls.keys must be auto, or a full http or https URL, with scheme and without user, query or fragment, or null, not "keys.example.com".',
      'publicUrls: { keys: auto, mcp: "https://mcp.example.com/mcp", backend: "https://api.example.com", frontend: "https://app.example.com" }':
        'svc.yaml:3:21 publicUrls.keys must not be the internal name "127.0.0.1" while another public address is configured.',
      [`public: { ${host} }\npublicUrls: { keys: auto }`]: `svc.yaml:4:21 ${own}`,
      [`public: { ${host} }\npublicUrls: { keys: "https://agents.example.com:8443/mcp" }`]: `svc.yaml:4:21 ${own}`,
      [`public: { ${host} }\npublicUrls: { keys: "https://keys.example.com/keys" }`]: `svc.yaml:4:21 ${own}`,
      [`public: { ${host} }\npublicUrls: { keys: "https://a{b}.example.com/mcp" }`]: `svc.yaml:4:21 ${own}`,
      [`public: { ${host}, tls: acme }\npublicUrls: { keys: "https://192.0.2.1/mcp" }`]:
        'svc.yaml:4:21 publicUrls.keys must have a public name for tls: acme, not "192.0.2.1".',
    }),
  )('%j is refused', (yaml, message) => expect(refusalOf(distributed + yaml)).toBe(message));
});

describe('a mistake in public is reported with its place and its rule', () => {
  test.each(
    Object.entries({
      'public: { tls: acme }': 'svc.yaml:3:16 public.tls acme needs public.host, the name that the certificate is for.',
      [`public: { ${host}, tls: files, key: a.key }`]: 'svc.yaml:3:42 public.tls files needs public.cert.',
      [`public: { ${host}, tls: files, cert: a.pem }`]: 'svc.yaml:3:42 public.tls files needs public.key.',
      [`public: { ${host}, cert: a.pem }`]: 'svc.yaml:3:43 public.cert is for tls: files, and public.tls is none.',
      [`public: { ${host}, ${files}, acme: { email: a@example.com } }`]:
        'svc.yaml:3:89 public.acme.email is for tls: acme, and public.tls is files.',
      'public: { host: 192.0.2.1, tls: acme }':
        'svc.yaml:3:17 public.host must be a public name for tls: acme, not "192.0.2.1".',
      'public: { host: localhost, tls: acme }':
        'svc.yaml:3:17 public.host must be a public name for tls: acme, not "localhost".',
      'public: { host: "https://agents.example.com" }':
        'svc.yaml:3:17 public.host must be a name such as agents.example.com, in small letters, or null, not "https://agents.example.com".',
      'public: { host: "*.example.com" }':
        'svc.yaml:3:17 public.host must be a name such as agents.example.com, in small letters, or null, not "*.example.com".',
      [`public: { ${host}, tls: auto }`]: 'svc.yaml:3:42 public.tls must be one of none, files, acme, not "auto".',
      [`public: { ${host}, tls: acme, acme: { directory: "http://ca.example.com" } }`]:
        'svc.yaml:3:67 public.acme.directory must be an https address without quotes and braces, not "http://ca.example.com".',
      [`public: { ${host}, tls: files, cert: 'a" {', key: a.key }`]:
        'svc.yaml:3:55 public.cert must be the path of a PEM file, without quotes, braces and backslashes, or null, not "a\\" {".',
      [`public: { ${host}, tsl: acme }`]: 'svc.yaml:3:37 "public.tsl" is not a field. Did you mean "tls"?',
      [`public: { ${host} }\npublicUrls: { backend: https://api.example.com }`]:
        'svc.yaml:4:24 publicUrls.backend must have the host and the path of http://agents.example.com with public.host, or be auto.',
      [`public: { ${host} }\npublicUrls: { mcp: https://agents.example.com/agents }`]:
        'svc.yaml:4:20 publicUrls.mcp must have the host and the path of http://agents.example.com/mcp with public.host, or be auto.',
    }),
  )('%j', (yaml, message) => expect(refusalOf(distributed + yaml)).toBe(message));
});
