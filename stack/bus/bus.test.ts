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

test('a seed is new each time, has a public half, and is of one kind', () => {
  for (const [kind, other, mark] of [
    ['user', 'account', 'U'],
    ['account', 'user', 'A'],
  ] as const) {
    const seed = newBusSeed(kind);
    expect(newBusSeed(kind)).not.toBe(seed);
    expect(seed.startsWith(busSeedPrefixes[kind])).toBe(true);
    expect(publicBusKey(seed)[0]).toBe(mark);
    const wrong = [newBusSeed(other), seed.slice(0, -1), `${seed.slice(0, 2)}${'A'.repeat(56)}`];
    expect([seed, ...wrong].map((text) => isBusSeed(kind, text))).toEqual([true, false, false, false]);
  }
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

test('the configuration of nats-server has every place filled, and monitoring only at a configured address', () => {
  const places = ['NAME', 'LISTEN', 'TLS', 'STORE_DIR', 'CALLOUT_PUBLIC_KEY', 'SYSTEM_PUBLIC_KEY', 'ISSUER_PUBLIC_KEY'];
  const values = Object.fromEntries(places.map((name) => [name, `the-${name}`]));
  const text = natsConfiguration(values);
  expect(text).not.toMatch(/\$\{|^\s*http/m);
  for (const value of Object.values(values)) expect(text).toContain(value);
  expect(natsConfiguration({ ...values, HTTP_LISTEN: 'here' })).toContain('http: "here"');
});

describe('a bus that somebody else runs is refused before anything starts', () => {
  /** Starts a server that sends `first` as its greeting, and `answer` after every message of a client. */
  async function speak(first: string, answer: string): Promise<string> {
    const server = createServer((client) => {
      client.on('error', () => undefined);
      client.write(first);
      client.on('data', () => client.write(answer));
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const info = (fields: object) =>
    `INFO ${JSON.stringify({ version: '2.12.0', jetstream: true, nonce: 'x', ...fields })}\r\n`;
  const check = async (server: string) => checkBus(await plan([server]));
  const strange = { message: expect.stringContaining('does not answer as a NATS server: it says something else') };

  test.each<[what: string, first: string, answer: string, refusal: object]>([
    ['a program of another kind', 'HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(4000), '', strange],
    ['a greeting without a meaning', 'INFO nonsense\r\n', '', strange],
    ['a line without an end, which is read up to a limit', 'x'.repeat(100_000), '', strange],
    [
      'one that is too old',
      info({ version: '2.10.7' }),
      'PONG\r\n',
      {
        code: 'unsupported',
        message: expect.stringMatching(/runs NATS 2\.10\.7, and 2\.11 or newer is needed\.$/),
      },
    ],
    [
      'one that keeps nothing',
      info({ jetstream: false }),
      'PONG\r\n',
      { message: expect.stringContaining('without JetStream') },
    ],
    [
      'one that does not know us',
      info({}),
      "-ERR 'Authorization Violation'\r\n",
      {
        code: 'forbidden',
        message: expect.stringMatching(/does not know the user of our callout account\.$/),
        hint: expect.stringMatching(/callout U\w{55}, system U\w{55}, issuer A\w{55}/),
      },
    ],
  ])('%s', async (_, first, answer, refusal) => {
    await expect(check(await speak(first, answer))).rejects.toMatchObject(refusal);
  });

  test('where no program listens', async () => {
    await expect(check(`nats://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/does not answer as a NATS server: connection refused/),
      hint: expect.stringContaining('bus.servers'),
    });
  });

  test('and not where it lets us in', async () => {
    await expect(check(await speak(info({}), 'PONG\r\n'))).resolves.toBeUndefined();
  });
});
