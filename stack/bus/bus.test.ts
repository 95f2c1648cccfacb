import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { natsConfiguration } from '../parts/nats.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../plan/differences.ts';
import { busSeedPrefixes, isBusSeed, newBusSeed, publicBusKey } from '../secrets/bus-seeds.ts';
import { ensureSecrets } from '../secrets/ensure-folders.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { freePort } from '../test/free-ports.ts';
import { checkBus } from './check-bus.ts';

const dir = folderOfEachTest();

async function plan(busServers: readonly string[]) {
  const { installation } = await createInstallation({ dir: join(dir(), 'svc'), topology: 'distributed' });
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
  const { installation } = await createInstallation({ dir: join(dir(), 'svc'), topology: 'distributed' });
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

describe('a bus that somebody else runs is refused before anything starts', () => {
  /** A server that sends the first text as its greeting, and the answer to everything that a client sends. */
  async function speak(first: string, answer = ''): Promise<string> {
    const server = createServer((client) => {
      client.on('error', () => undefined);
      client.write(first);
      client.on('data', () => client.write(answer));
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const info = (said: object) =>
    `INFO ${JSON.stringify({ version: '2.12.0', jetstream: true, nonce: 'x', ...said })}\r\n`;
  const check = async (server: string) => checkBus(await plan([server]));

  test('where no program listens', async () => {
    await expect(check(`nats://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
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
