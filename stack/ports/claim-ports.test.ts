import { describe, expect, test } from 'vitest';
import { portWishesOf } from '../engines/plan-of.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Claim, claimPorts } from './claim-ports.ts';

const wishesOf = (yaml: string) => portWishesOf(definitionOf(yaml));

const claim = (yaml: string, taken: readonly number[], more: Partial<Claim> = {}) =>
  claimPorts({
    wishes: wishesOf(yaml),
    leased: {},
    isFree: async (port) => !taken.includes(port),
    holderOf: (port) => `holder of ${port}`,
    ...more,
  });

const distributed = 'topology: distributed\n';
const external = `${distributed}bus: { servers: [nats://bus.example.com:4222] }\n`;
const cluster = `${distributed}graph: dgraph\n`;
const services = { backend: ':3000', 'remote-mcp': ':3001', runtime: ':3003', frontend: ':8888' };
const servicesAt = (host: string) => Object.entries(services).map(([name, port]) => `${name} ${host}${port}`);
const nats = 'nats 127.0.0.1:4222';

describe('while all ports are free', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'every further process has one on this machine only',
      `${distributed}bind: 0.0.0.0\nreplicas: { remote-mcp: 2, runtime: 2 }\n`,
      [
        ...[...servicesAt('0.0.0.0'), nats, 'runtime-2 127.0.0.1:3302'],
        ...['remote-mcp-1 127.0.0.1:3101', 'remote-mcp-2 127.0.0.1:3102'],
      ],
    ],
    [
      'under one host name only the proxy is open',
      `${external}bind: 0.0.0.0\npublic: { host: a.example.com, tls: acme }`,
      [...servicesAt('127.0.0.1'), 'caddy-https 0.0.0.0:443', 'caddy-http 0.0.0.0:80'],
    ],
    [
      'a graph of our own has the first of its ports',
      cluster,
      [...servicesAt('127.0.0.1'), nats, 'dgraph-zero 127.0.0.1:5080', 'dgraph-alpha 127.0.0.1:8080'],
    ],
  ])('%s', async (_what, yaml, expected) => {
    const addresses: string[] = [];
    const isFree = async (port: number, host: string) => addresses.push(`${host}:${port}`) > 0;
    const { ports, notices } = await claim(yaml, [], { isFree });
    const claimed = wishesOf(yaml).map(({ name, host }) => `${name} ${host}:${ports[name]}`);
    expect([claimed.toSorted(), notices]).toEqual([expected.toSorted(), []]);
    expect(addresses).toEqual(expect.arrayContaining(expected.map((line) => line.split(' ')[1])));
  });
});

const moved = { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8889 };
const moves = (name: string, from: number, to: number, holder = `holder of ${from}`) =>
  `Port ${from} is in use by ${holder}: ${name} moved to ${to}, and stays there.`;

test.each<[string, string, readonly number[], Partial<Claim>, Readonly<Record<string, number>>, readonly string[]]>([
  [
    'moves to the next that is neither used nor reserved',
    '',
    [3000, 3002, 8888],
    {},
    moved,
    [moves('backend', 3000, 3004), moves('frontend', 8888, 8889)],
  ],
  ['stays where it moved, also when the usual one is free again', '', [], { leased: moved }, moved, []],
  [
    'moves on when that one is in use',
    '',
    [3004],
    { leased: moved },
    { backend: 3005 },
    [moves('backend', 3004, 3005)],
  ],
  [
    'avoids its last port after a lost race, and skips some',
    '',
    [],
    { avoid: new Set([3000, 3001]), skip: 40 },
    { backend: 3041, 'remote-mcp': 3042, runtime: 3003, frontend: 8888 },
    [moves('backend', 3000, 3041), moves('remote-mcp', 3001, 3042)],
  ],
  [
    'leaves a chosen port alone',
    'ports: { frontend: 3000 }',
    [],
    {},
    { backend: 3002, frontend: 3000 },
    [moves('backend', 3000, 3002, 'another service of this installation')],
  ],
  [
    'of the proxy moves only with auto',
    `${external}public: { host: a.example.com, tls: acme, httpsPort: auto }`,
    [443],
    {},
    { 'caddy-https': 444 },
    [moves('caddy-https', 443, 444)],
  ],
  [
    'moves with its companions to where all of them are free',
    cluster,
    [9080, 7081, 6080],
    {},
    { 'dgraph-zero': 5081, 'dgraph-alpha': 8082 },
    [moves('dgraph-zero', 6080, 5081), moves('dgraph-alpha', 9080, 8082)],
  ],
  [
    'moves where another part has a companion',
    `${cluster}ports: { frontend: 9080 }\n`,
    [],
    {},
    { 'dgraph-alpha': 8081, frontend: 9080 },
    [moves('dgraph-alpha', 9080, 8081, 'another service of this installation')],
  ],
])('a port %s', async (_what, yaml, taken, more, ports, notices) => {
  const claimed = await claim(yaml, taken, more);
  expect(claimed.ports).toMatchObject(ports);
  expect(claimed.notices).toEqual(notices);
});

const members = new Set(['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']);
const leased = { 'dgraph-zero': 5090, 'dgraph-zero-2': 5091, 'dgraph-zero-3': 5092 };
const three = `${cluster}replicas: { dgraph-zero: 3 }\n`;

test('a member of a cluster keeps its port, also after a lost race', async () => {
  const { ports } = await claim(three, [], { members, leased, avoid: new Set([5091]), skip: 40 });
  expect(ports).toMatchObject(leased);
});

test.each<[string, number, Partial<Claim>, string, string]>([
  ['ports: { backend: 4000 }', 4000, {}, '4000 of backend', 'ports.backend'],
  [`${external}public: { host: a.example.com, tls: acme }`, 443, {}, '443 of caddy-https', 'public.httpsPort'],
  [`${distributed}bus: { port: 4300 }`, 4300, {}, '4300 of nats', 'bus.port'],
  [`${cluster}graphdb: { port: 8080 }\n`, 7080, {}, '7080 of dgraph-alpha', 'graphdb.port'],
  [three, 6091, { members, leased }, '6091 of dgraph-zero-2', 'Stop that program.'],
])(
  '%s with port %i in use is a conflict that names its holder and the repair',
  async (yaml, taken, more, what, hint) => {
    await expect(claim(yaml, [taken], more)).rejects.toMatchObject({
      code: 'conflict',
      message: `Port ${what} is in use by holder of ${taken}.`,
      hint: expect.stringContaining(hint),
    });
  },
);

test.each([
  ['ports: { backend: 4000, runtime: 4000 }', 'ports.backend and ports.runtime are both 4000.'],
  [
    `${cluster}graphdb: { port: 8080 }\nports: { runtime: 9080 }\n`,
    'ports.runtime and graphdb.port want the same port.',
  ],
])('one port for two is refused: %s', async (yaml, message) => {
  await expect(claim(yaml, [])).rejects.toMatchObject({ code: 'invalid_input', message });
});

test('a machine without a free port is refused', async () => {
  await expect(claim('', [], { isFree: async () => false })).rejects.toThrow(/No port from 3000 to 3500 is free/);
});
