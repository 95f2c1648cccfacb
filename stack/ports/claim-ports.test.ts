import { describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { portWishesOf } from '../engines/plan-of.ts';
import { checkDefinition } from '../settings/check.ts';
import { type Claim, claimPorts } from './claim-ports.ts';

const wishesOf = (yaml: string) => portWishesOf(checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml'));

function claim(taken: readonly number[], wishes: Partial<Claim> = {}) {
  return claimPorts({
    wishes: wishesOf(''),
    leased: {},
    isFree: async (port) => !taken.includes(port),
    holderOf: (port) => `holder of ${port}`,
    ...wishes,
  });
}

test('while all are free, the usual ones', async () => {
  expect(await claim([])).toEqual({
    ports: { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 },
    notices: [],
  });
});

test('a port in use moves to the next that is neither used nor reserved', async () => {
  expect(await claim([3000, 3002, 8888])).toEqual({
    ports: { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8889 },
    notices: [
      'Port 3000 is in use by holder of 3000: backend moved to 3004, and stays there.',
      'Port 8888 is in use by holder of 8888: frontend moved to 8889, and stays there.',
    ],
  });
});

test('it stays where it moved, also when the usual one is free again', async () => {
  const leased = { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8889 };
  expect(await claim([], { leased })).toEqual({ ports: leased, notices: [] });
});

test('it moves on when that one is in use', async () => {
  const leased = { backend: 3004, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
  expect((await claim([3004], { leased })).ports.backend).toBe(3005);
});

test('after a lost race it avoids its last port, and skips some', async () => {
  const claimed = await claim([], { avoid: new Set([3000, 3001]), skip: 40 });
  expect(claimed.ports).toEqual({ backend: 3041, 'remote-mcp': 3042, runtime: 3003, frontend: 8888 });
});

describe('a member of a cluster', () => {
  const wishes = wishesOf('topology: distributed\ngraph: dgraph\nreplicas: { dgraph-zero: 3 }\n');
  const members = new Set(['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']);
  const leased = { 'dgraph-zero': 5090, 'dgraph-zero-2': 5091, 'dgraph-zero-3': 5092 };

  test('keeps its port, also after a lost race', async () => {
    const claimed = await claim([], { wishes, members, leased, avoid: new Set([5091]), skip: 40 });
    expect(claimed.ports).toMatchObject(leased);
  });

  test('whose port is taken is refused, with the repair', async () => {
    await expect(claim([6091], { wishes, members, leased })).rejects.toMatchObject({
      code: 'conflict',
      message: 'Port 6091 of dgraph-zero-2 is in use by holder of 6091.',
      hint: expect.stringContaining('Stop that program.'),
    });
  });
});

test('a port chosen by hand is left alone by the others', async () => {
  const wishes = wishesOf('ports: { frontend: 3000 }');
  expect(await claim([], { wishes })).toMatchObject({ ports: { backend: 3002, frontend: 3000 } });
});

describe('under one host name', () => {
  const yaml = 'topology: distributed\nbind: 0.0.0.0\nbus: { servers: [nats://bus.example.com:4222] }\npublic: ';

  test('the proxy has the ports of http and https of svc.yaml, and the services theirs on this machine only', async () => {
    const asked: string[] = [];
    const isFree = async (port: number, host: string) => asked.push(`${host}:${port}`) > 0;
    const { ports } = await claim([], { wishes: wishesOf(`${yaml}{ host: a.example.com, tls: acme }`), isFree });
    expect(ports).toMatchObject({ 'caddy-https': 443, 'caddy-http': 80, backend: 3000, 'remote-mcp': 3001 });
    expect(asked.filter((address) => address.startsWith('0.0.0.0'))).toEqual(['0.0.0.0:443', '0.0.0.0:80']);
  });

  test('without TLS it has one', async () => {
    const wishes = wishesOf(`${yaml}{ host: a.example.com, httpPort: 8080 }\nreplicas: { remote-mcp: 2 }`);
    expect((await claim([], { wishes })).ports).toEqual({
      backend: 3000,
      'remote-mcp': 3001,
      'remote-mcp-1': 3101,
      'remote-mcp-2': 3102,
      runtime: 3003,
      frontend: 8888,
      'caddy-http': 8080,
    });
  });

  test('its port in use is reported with its owner, and moves only with auto', async () => {
    const fixed = wishesOf(`${yaml}{ host: a.example.com, tls: acme }`);
    await expect(claim([443], { wishes: fixed })).rejects.toMatchObject({
      code: 'conflict',
      message: 'Port 443 of caddy-https is in use by holder of 443.',
      hint: expect.stringContaining('public.httpsPort'),
    });
    const auto = wishesOf(`${yaml}{ host: a.example.com, tls: acme, httpsPort: auto }`);
    expect((await claim([443], { wishes: auto })).ports['caddy-https']).toBe(444);
  });
});

describe('with separate processes', () => {
  const three = 'topology: distributed\nbind: 0.0.0.0\nreplicas: { remote-mcp: 3, runtime: 2 }\n';

  test('the bus and every further process have ports too, on this machine only', async () => {
    const asked: string[] = [];
    const isFree = async (port: number, host: string) => asked.push(`${host}:${port}`) > 0;
    expect((await claim([], { wishes: wishesOf(three), isFree })).ports).toEqual({
      backend: 3000,
      'remote-mcp': 3001,
      runtime: 3003,
      frontend: 8888,
      nats: 4222,
      'remote-mcp-1': 3101,
      'remote-mcp-2': 3102,
      'remote-mcp-3': 3103,
      'runtime-2': 3302,
    });
    const local = [4222, 3101, 3102, 3103, 3302].map((port) => `127.0.0.1:${port}`);
    const open = [3000, 3001, 3003, 8888].map((port) => `0.0.0.0:${port}`);
    expect(asked.toSorted()).toEqual([...local, ...open].toSorted());
  });

  test('several backends share the port of a single one, and each has its own on this machine only', async () => {
    const wishes = wishesOf('topology: distributed\ngraph: dgraph\nbind: 0.0.0.0\nreplicas: { backend: 3 }\n');
    const { ports } = await claim([], { wishes });
    expect(ports).toMatchObject({ backend: 3000, 'backend-1': 3201, 'backend-2': 3202, 'backend-3': 3203 });
    const hosts = wishes.filter(({ name }) => name.startsWith('backend')).map(({ name, host }) => `${name} ${host}`);
    expect(hosts).toEqual([
      'backend 0.0.0.0',
      ...['backend-1', 'backend-2', 'backend-3'].map((name) => `${name} 127.0.0.1`),
    ]);
  });

  test('a single remote-mcp has no proxy, and no further port', async () => {
    const { ports } = await claim([], { wishes: wishesOf('topology: distributed\n') });
    expect(Object.keys(ports).filter((name) => name.startsWith('remote-mcp'))).toEqual(['remote-mcp']);
  });

  test('an external bus needs none', async () => {
    const { ports } = await claim([], {
      wishes: wishesOf('topology: distributed\nbus: { servers: [nats://bus.example.com:4222] }'),
    });
    expect(Object.keys(ports)).toEqual(['backend', 'remote-mcp', 'runtime', 'frontend']);
  });

  test('a chosen port of the bus in use is reported with its setting', async () => {
    const wishes = wishesOf('topology: distributed\nbus: { port: 4300 }');
    await expect(claim([4300], { wishes })).rejects.toMatchObject({
      message: 'Port 4300 of nats is in use by holder of 4300.',
      hint: expect.stringContaining('bus.port'),
    });
  });
});

describe('ports that move together', () => {
  const cluster = 'topology: distributed\ngraph: dgraph\n';
  const claimed = async (taken: readonly number[], more: Partial<Claim> = {}) => {
    const { ports, notices } = await claim(taken, { wishes: wishesOf(cluster), ...more });
    return { zero: ports['dgraph-zero'], alpha: ports['dgraph-alpha'], notices };
  };

  test('are the usual ones while all of them are free', async () => {
    expect(await claimed([])).toEqual({ zero: 5080, alpha: 8080, notices: [] });
  });

  test('move when one of them is in use, to where all of them are free', async () => {
    expect(await claimed([9080, 7081, 6080])).toEqual({
      zero: 5081,
      alpha: 8082,
      notices: [
        'Port 6080 is in use by holder of 6080: dgraph-zero moved to 5081, and stays there.',
        'Port 9080 is in use by holder of 9080: dgraph-alpha moved to 8082, and stays there.',
      ],
    });
  });

  test('are not given to another part', async () => {
    const wishes = wishesOf(`${cluster}ports: { frontend: 9080 }\n`);
    expect(await claimed([], { wishes })).toMatchObject({
      alpha: 8081,
      notices: [
        'Port 9080 is in use by another service of this installation: dgraph-alpha moved to 8081, and stays there.',
      ],
    });
  });

  test('that were chosen are refused when one of them is in use, or requested twice', async () => {
    const chosen = wishesOf(`${cluster}graphdb: { port: 8080 }\n`);
    await expect(claim([7080], { wishes: chosen })).rejects.toMatchObject({
      code: 'conflict',
      message: 'Port 7080 of dgraph-alpha is in use by holder of 7080.',
      hint: expect.stringContaining('graphdb.port'),
    });
    const twice = wishesOf(`${cluster}graphdb: { port: 8080 }\nports: { runtime: 9080 }\n`);
    await expect(claim([], { wishes: twice })).rejects.toThrow('ports.runtime and graphdb.port want the same port.');
  });

  test('are not needed for an external cluster', async () => {
    const wishes = wishesOf(`${cluster}graphdb: { url: "http://db:8080" }\n`);
    expect((await claim([], { wishes })).ports).not.toHaveProperty('dgraph-alpha');
  });
});

describe('refusals', () => {
  test('a chosen port in use is a conflict that names its owner', async () => {
    const refused = claim([4000], { wishes: wishesOf('ports: { backend: 4000 }') });
    await expect(refused).rejects.toMatchObject({
      code: 'conflict',
      message: 'Port 4000 of backend is in use by holder of 4000.',
      hint: expect.stringContaining('ports.backend'),
    });
    await expect(refused).rejects.toBeInstanceOf(SvcError);
  });

  test('one port for two', async () => {
    const wishes = wishesOf('ports: { backend: 4000, runtime: 4000 }');
    await expect(claim([], { wishes })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'ports.backend and ports.runtime are both 4000.',
    });
  });

  test('a machine without a free port', async () => {
    await expect(claim([], { isFree: async () => false })).rejects.toThrow(/No port from 3000 to 3500 is free/);
  });
});
