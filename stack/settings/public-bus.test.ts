import { describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { checkDefinition } from './check.ts';
import { isLoopbackServer, publicBus } from './public-bus.ts';

const tls = { cert: 'secrets/bus.pem', key: 'secrets/bus.key' };
const outside = { servers: ['tls://bus.example.com:4222'], bind: '0.0.0.0' };

function refusal(text: string): string {
  try {
    checkDefinition(`id: abcdef0123456789\ntopology: distributed\nbus:\n  public: ${text}\n`, 'svc.yaml');
  } catch (error) {
    if (error instanceof SvcError && error.code === 'invalid_input') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('bus.public admits others', () => {
  test('with TLS', () => {
    expect(publicBus.parse({ ...outside, tls })).toEqual({ ...outside, tls: { ...tls, ca: null } });
    const ca = 'secrets/bus-ca.pem';
    expect(publicBus.parse({ ...outside, tls: { ...tls, ca } })).toEqual({ ...outside, tls: { ...tls, ca } });
  });

  test('without it when svc.yaml says insecure', () => {
    const servers = ['nats://10.0.0.7:4222', 'nats://[fd00::7]:4222'];
    const bind = '10.0.0.7';
    expect(publicBus.parse({ servers, bind, insecure: true })).toEqual({ servers, bind, tls: null });
  });

  test('behind a proxy that terminates TLS', () => {
    const servers = ['tls://bus.example.com:4222'];
    expect(publicBus.parse({ servers })).toEqual({ servers, bind: '127.0.0.1', tls: null });
  });

  test('of this machine without either', () => {
    const here = {
      servers: ['nats://127.0.0.1:4300', 'nats://localhost:4300', 'nats://[::1]:4300'],
      bind: '127.0.0.1',
    };
    expect(publicBus.parse(here)).toEqual({ ...here, tls: null });
  });

  test('and admits no others when it is null', () => {
    expect(publicBus.parse(null)).toBeUndefined();
  });
});

describe('a mistake in bus.public is reported with its place and its rule', () => {
  const beyond = (host: string) =>
    `svc.yaml:4:11 bus.public: It reaches beyond this machine (${host}) without TLS: others on the network can read keys and calls. Set bus.public.tls, or write insecure: true.`;
  const rows: readonly [what: string, text: string, told: string][] = [
    [
      'an open address without TLS',
      '{ servers: [nats://bus.example.com:4222], bind: 127.0.0.1 }',
      beyond('nats://bus.example.com:4222'),
    ],
    ['an open bind without TLS', '{ servers: [nats://127.0.0.1:4222], bind: 0.0.0.0 }', beyond('0.0.0.0')],
    [
      'one that is said not to be insecure',
      '{ servers: [nats://127.0.0.1:4222], bind: "::", insecure: false }',
      beyond('::'),
    ],
    [
      'TLS that is insecure',
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a, key: b }, insecure: true }',
      'svc.yaml:4:101 bus.public.insecure: It contradicts bus.public.tls: leave one out.',
    ],
    [
      'TLS under an address without',
      '{ servers: [nats://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a, key: b } }',
      'svc.yaml:4:23 bus.public.servers.0: It must start with tls:// when bus.public.tls is set.',
    ],
    [
      'half a pair',
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a } }',
      'svc.yaml:4:70 bus.public.tls.key must be the path of a PEM file.',
    ],
    [
      'an address without a port',
      '{ servers: [tls://b.example.com], bind: 0.0.0.0 }',
      'svc.yaml:4:23 bus.public.servers.0 must be an address such as tls://bus.example.com:4222, with scheme and port.',
    ],
    [
      'no address',
      '{ bind: 0.0.0.0, insecure: true }',
      'svc.yaml:4:11 bus.public.servers must be a list of addresses such as [tls://bus.example.com:4222].',
    ],
    [
      'a mistyped field',
      '{ servers: [nats://127.0.0.1:4222], bind: 127.0.0.1, insecur: true }',
      'svc.yaml:4:64 "bus.public.insecur" is not a field. Did you mean "insecure"?',
    ],
    [
      'a mistyped field of tls',
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { crt: a, cert: a, key: b } }',
      'svc.yaml:4:72 "bus.public.tls.crt" is not a field. Did you mean "cert"?',
    ],
    [
      'a text',
      'bus.example.com',
      'svc.yaml:4:11 bus.public must be null, or servers with bind and tls (cert and key) or insecure: true, not "bus.example.com".',
    ],
  ];
  for (const [what, text, told] of rows) test(what, () => expect(refusal(text)).toBe(told));

  test('a bus whose port could change', () => {
    expect(refusal('{ servers: [nats://127.0.0.1:4222] }')).toMatch(
      /^svc\.yaml:4:11 bus\.public needs a number as bus\.port/,
    );
    const elsewhere =
      'id: abcdef0123456789\ntopology: distributed\nbus:\n  servers: [nats://127.0.0.1:1]\n  public: { servers: [nats://127.0.0.1:4222] }\n';
    expect(checkDefinition(elsewhere, 'svc.yaml').bus.port).toBe('auto');
  });

  test('a platform without a bus of its own', () => {
    const text = 'id: abcdef0123456789\nbus:\n  public: { servers: [nats://127.0.0.1:4222], bind: 127.0.0.1 }\n';
    expect(() => checkDefinition(text, 'svc.yaml')).toThrow(
      /^svc\.yaml:3:11 bus\.public needs topology: distributed\./,
    );
  });
});

test.each([
  ['tls://bus.example.com:4222', 'bus.example.com', false],
  ['nats://127.0.0.1:4222', '127.0.0.1', true],
  ['nats://[::1]:4222', '::1', true],
  ['localhost:4222', 'localhost', true],
])('the host of %s is %s', (server, host, isLoopback) => {
  expect([hostOf(server), isLoopbackServer(server)]).toEqual([host, isLoopback]);
});
