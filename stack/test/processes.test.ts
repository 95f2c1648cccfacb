import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { svcFile } from '../../cli/test/run-svc.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import { busKeysOf, natsConfiguration } from '../parts/nats.ts';
import { newBusSeed, publicBusKey } from '../secrets/bus-seeds.ts';
import { readSecret, secretFilesOf } from '../secrets/secrets.ts';
import { readRecord } from '../state/platform-record.ts';
import type { Agent } from './agent.ts';
import { hasNatsServer, Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { runWithTest } from './run-with-test.ts';
import { listeningOf, processesAreShown, processesOf } from './running-processes.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const names = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];

/** A platform whose parts are processes, with everything that is real. */
describe.skipIf(!hasNatsServer)('on a real server', () => {
  let platform: Platform;
  let agent: Agent;

  beforeAll(async () => {
    platform = await Platform.start({ topology: 'distributed' });
    const skill = await platform.addEcho();
    const key = await platform.addKey('agent');
    agent = await platform.connect(key, `?skillIds=${skill}`);
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  const pids = async () => new Map([...(await platform.services())].map(([name, { pid }]) => [name, pid]));
  const changed = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) =>
    [...after.keys()].filter((name) => before.get(name) !== after.get(name));
  /** The agent is its own judge: a call that fails meanwhile is tried again, as agents do. */
  const works = (said: string) =>
    until(async () => (await agent.text('echo', { message: said }).catch(() => '')) === `Echo: ${said}`);

  test('every part is a process of its own, with its log', async () => {
    const seen = await platform.services();
    expect([...seen.keys()]).toEqual(names);
    expect(new Set([...seen.values()].map(({ pid }) => pid)).size).toBe(5);
    const { lines } = await platform.svc('logs', '-n', '1000');
    expect(new Set(lines.map(({ service }: { service: string }) => service))).toEqual(new Set([...names, 'platform']));
    await works('hello');
  });

  test.each(names)('%s, killed, restarts, and the session of an agent continues', async (name) => {
    const before = await pids();
    await platform.killService(name);
    expect(changed(before, await pids())).toEqual([name]);
    expect((await platform.services()).get(name)?.ends.at(-1)?.reason).toMatch(/^was killed \(SIGKILL\)/);
    await works(`after ${name}`);
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  test('a supervisor that no longer responds is replaced by svc up, and no part restarts', async () => {
    const before = await pids();
    const supervisor = readRecord(platform.installation)?.pid ?? 0;
    process.kill(supervisor, 'SIGSTOP');
    await until(async () => (await platform.run(['status'])).stdout.includes('Replace it: svc up'));
    await platform.svc('up');
    expect(processesOf(platform.installation.dir).map(({ pid }) => pid)).not.toContain(supervisor);
    expect(changed(before, await pids())).toEqual([]);
    expect(await platform.svc('status')).toMatchObject({ state: 'running', supervisor: { state: 'running' } });
  });

  test.skipIf(!processesAreShown)('nothing answers from outside this machine unless svc.yaml allows it', async () => {
    // 127.0.0.1 and ::1; and 0.0.0.0, which may stand for ::.
    const [loopback, anywhere] = [['0100007F', '00000000000000000000000001000000'], expect.stringMatching(/^0+$/)];
    const listening = () => processesOf(platform.installation.dir).flatMap(({ pid }) => listeningOf(pid));
    const { port, httpPort } = platform.busPorts;
    const closed = listening();
    expect(closed.map((one) => one.port)).toContain(port);
    expect(closed.map((one) => one.port)).not.toContain(httpPort);
    expect(closed.filter(({ address }) => !loopback.includes(address))).toEqual([]);
    const open = `public: { servers: ["nats://bus.example.com:${port}"], bind: 0.0.0.0, insecure: true }`;
    platform.edit('public: null', open);
    platform.edit('httpPort: null', `httpPort: ${httpPort}`);
    await platform.svc('up');
    expect(listening().map((one) => one.port)).toContain(httpPort);
    expect(listening().filter(({ address }) => !loopback.includes(address))).toEqual([{ address: anywhere, port }]);
    platform.edit(open, 'public: null');
    // As installations of older versions say it.
    platform.edit(`httpPort: ${httpPort}`, 'httpPort: auto');
    await platform.svc('up');
    expect(listening().map((one) => one.port)).not.toContain(httpPort);
    expect(listening().filter(({ address }) => !loopback.includes(address))).toEqual([]);
    await works('on loopback again');
  });

  test('in the foreground it ends with its terminal, and leaves nothing', async () => {
    await platform.svc('down');
    const { dir } = platform.installation;
    const terminal = spawn(process.execPath, [svcFile, 'up', '--foreground', '--dir', dir], {
      env: { PATH: process.env.PATH, HOME: platform.folder },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => terminal.once('exit', resolve));
    await platform.running();
    await works('in the foreground');
    terminal.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(processesOf(dir).map(({ command }) => command)).toEqual([]);
    await platform.svc('up');
  });

  test('svc.yaml changes several processes to one and back, on the same data', async () => {
    const keys = async () => (await platform.svc('keys', 'list')).keys.map(({ id }: { id: string }) => id);
    const before = await keys();
    platform.edit('topology: distributed', 'topology: embedded');
    const { stderr } = await platform.run(['up']);
    expect(stderr).toContain('~ topology: distributed → embedded');
    expect(new Set((await pids()).values()).size).toBe(1);
    expect(await keys()).toEqual(before);
    platform.edit('topology: embedded', 'topology: distributed');
    await platform.svc('up');
    expect(new Set((await pids()).values()).size).toBe(5);
    expect(await keys()).toEqual(before);
  });
});

/** What an operator of that NATS would have made of the public keys that `svc up` tells. */
async function startForeignBus(platform: Platform, keys: Readonly<Record<string, string>>): Promise<AsyncDisposable> {
  const { port, httpPort } = platform.busPorts;
  const file = join(platform.folder, 'foreign.conf');
  const listen = { LISTEN: `127.0.0.1:${port}`, HTTP_LISTEN: `127.0.0.1:${httpPort}` };
  const rest = { NAME: 'theirs', STORE_DIR: join(platform.folder, 'foreign'), TLS: '' };
  await writeFile(file, natsConfiguration({ ...listen, ...rest, ...keys }));
  const running = runWithTest(['nats-server', '-c', file], platform.folder);
  const { signal } = new AbortController();
  await waitUntilReady({ kind: 'http', url: `http://127.0.0.1:${httpPort}/healthz` }, { timeoutMs: 20_000, signal });
  return running;
}

describe.skipIf(!hasNatsServer)('on a real server that somebody else runs', () => {
  const settings = (yaml: string) => yaml.replace('  servers: auto', '  servers: [nats://127.0.0.1:1]');

  test('nothing is provisioned, and everything checked', { timeout: startTimeoutMs }, async () => {
    await using platform = await Platform.init({ topology: 'distributed', settings });
    platform.edit('127.0.0.1:1]', `127.0.0.1:${platform.busPorts.port}]`);
    const own = busKeysOf(secretFilesOf(platform.installation), readSecret);
    {
      await using _ = await startForeignBus(platform, { ...own, CALLOUT_PUBLIC_KEY: publicBusKey(newBusSeed('user')) });
      const { code, json } = await platform.fails('up');
      expect([code, json.error.message, json.error.hint]).toEqual([
        3,
        expect.stringContaining('does not know the user of our callout account'),
        expect.stringContaining(`callout ${own.CALLOUT_PUBLIC_KEY}, system ${own.SYSTEM_PUBLIC_KEY}`),
      ]);
    }
    await using _ = await startForeignBus(platform, own);
    const { services } = await platform.svc('up');
    expect(services.map(({ name, state }: Record<string, string>) => [name, state])).toEqual(
      names.slice(0, 4).map((name) => [name, 'healthy']),
    );
    const skill = await platform.addEcho();
    const agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
    expect(await agent.text('echo', { message: 'over theirs' })).toBe('Echo: over theirs');
    await platform.svc('down');
  });
});
