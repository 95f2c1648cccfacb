import { describe, expect, test } from 'vitest';
import { publicBus } from './public-bus.ts';
import { definitionOf, refusalOf } from './test/definition-of.ts';

const tls = { cert: 'secrets/bus.pem', key: 'secrets/bus.key' };
const ca = 'secrets/bus-ca.pem';
const outside = { servers: ['tls://bus.example.com:4222'], bind: '0.0.0.0' };

describe('bus.public admits others', () => {
  const here = { servers: ['nats://127.0.0.1:4300', 'nats://localhost:4300', 'nats://[::1]:4300'], bind: '127.0.0.1' };
  const inside = { servers: ['nats://10.0.0.7:4222', 'nats://[fd00::7]:4222'], bind: '10.0.0.7' };
  test.each([
    ['with TLS', { ...outside, tls }, { ...outside, tls: { ...tls, ca: null } }],
    ['with TLS of an authority', { ...outside, tls: { ...tls, ca } }, { ...outside, tls: { ...tls, ca } }],
    ['without it when svc.yaml says insecure', { ...inside, insecure: true }, { ...inside, tls: null }],
    [
      'behind a proxy that terminates TLS',
      { servers: outside.servers },
      { servers: outside.servers, bind: '127.0.0.1', tls: null },
    ],
    ['of this machine without either', here, { ...here, tls: null }],
    ['and admits no others when it is null', null, undefined],
  ])('%s', (_, given, expected) => expect(publicBus.parse(given)).toEqual(expected));
});

describe('a mistake in bus.public is reported with its place and its rule', () => {
  const beyond = (host: string) =>
    `svc.yaml:4:11 bus.public: It reaches beyond this machine (${host}) without TLS: others on the network can read keys and calls. Set bus.public.tls, or write insecure: true.`;
  test.each(
    Object.entries({
      '{ servers: [nats://bus.example.com:4222], bind: 127.0.0.1 }': beyond('nats://bus.example.com:4222'),
      '{ servers: [nats://127.0.0.1:4222], bind: 0.0.0.0 }': beyond('0.0.0.0'),
      '{ servers: [nats://127.0.0.1:4222], bind: "::", insecure: false }': beyond('::'),
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a, key: b }, insecure: true }':
        'svc.yaml:4:101 bus.public.insecure: It contradicts bus.public.tls: leave one out.',
      '{ servers: [nats://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a, key: b } }':
        'svc.yaml:4:23 bus.public.servers.0: It must start with tls:// when bus.public.tls is set.',
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { cert: a } }':
        'svc.yaml:4:70 bus.public.tls.key must be the path of a PEM file.',
      '{ servers: [tls://b.example.com], bind: 0.0.0.0 }':
        'svc.yaml:4:23 bus.public.servers.0 must be an address such as tls://bus.example.com:4222, with scheme and port.',
      '{ bind: 0.0.0.0, insecure: true }':
        'svc.yaml:4:11 bus.public.servers must be a list of addresses such as [tls://bus.example.com:4222].',
      '{ servers: [nats://127.0.0.1:4222], bind: 127.0.0.1, insecur: true }':
        'svc.yaml:4:64 "bus.public.insecur" is not a field. Did you mean "insecure"?',
      '{ servers: [tls://b.example.com:4222], bind: 0.0.0.0, tls: { crt: a, cert: a, key: b } }':
        'svc.yaml:4:72 "bus.public.tls.crt" is not a field. Did you mean "cert"?',
      'bus.example.com':
        'svc.yaml:4:11 bus.public must be null, or servers with bind and tls (cert and key) or insecure: true, not "bus.example.com".',
    }),
  )('%s', (text, message) => {
    expect(refusalOf(`topology: distributed\nbus:\n  public: ${text}\n`)).toBe(message);
  });

  test('a bus whose port could change', () => {
    const open = '  public: { servers: [nats://127.0.0.1:4222] }\n';
    expect(refusalOf(`topology: distributed\nbus:\n${open}`)).toMatch(
      /^svc\.yaml:4:11 bus\.public needs a number as bus\.port/,
    );
    const elsewhere = `topology: distributed\nbus:\n  servers: [nats://127.0.0.1:1]\n${open}`;
    expect(definitionOf(elsewhere).bus.port).toBe('auto');
  });
});
