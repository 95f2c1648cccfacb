import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newSeeds, TestServer } from '../../services/kit/bus/nats/test/server.ts';
import { publicBusKey } from '../secrets/bus-seeds.ts';
import { busSeedsOf, secretFilesOf } from '../secrets/secrets.ts';
import { readRecord } from '../state/platform-record.ts';
import type { Agent } from './agent.ts';
import { expectCallsUntil } from './calls-meanwhile.ts';
import { folderOfEachTest } from './folder-of-each-test.ts';
import { hasNatsServer, Platform, startTimeoutMs } from './platform.ts';
import { listeningOf, processesAreShown, processesOf } from './running-processes.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: startTimeoutMs });

const names = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];

/** A platform of real programs whose parts are processes. */
describe.skipIf(!hasNatsServer)('on a real server', () => {
  let platform: Platform;
  let agent: Agent;

  beforeAll(async () => {
    platform = await Platform.start({ topology: 'distributed' });
    ({ agent } = await platform.addAgent());
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  const pids = async () => new Set([...(await platform.services()).values()].map(({ pid }) => pid));
  test('every part is a process of its own, with its log', async () => {
    expect([...(await platform.services()).keys()]).toEqual(names);
    expect((await pids()).size).toBe(5);
    const { lines } = await platform.svc('logs', '-n', '1000');
    expect(new Set(lines.map(({ service }: { service: string }) => service))).toEqual(new Set([...names, 'platform']));
    await agent.works('hello');
  });

  test.each(names)('%s, killed, restarts, and the session of an agent continues', async (name) => {
    expect(await platform.changedBy(() => platform.killService(name))).toEqual([name]);
    expect((await platform.services()).get(name)?.ends.at(-1)?.reason).toMatch(/^was killed \(SIGKILL\)/);
    await agent.works(`after ${name}`);
    expect(agent.sessionsBegun()).toBe(1);
  });

  test('a supervisor that no longer responds is replaced by svc up, and no part restarts', async () => {
    const supervisor = readRecord(platform.installation)?.pid ?? 0;
    const replace = async () => {
      process.kill(supervisor, 'SIGSTOP');
      await until(async () => (await platform.run(['status'])).stdout.includes('Replace it: svc up'));
      await platform.svc('up');
    };
    expect(await platform.changedBy(replace)).toEqual([]);
    expect(processesOf(platform.installation.dir).map(({ pid }) => pid)).not.toContain(supervisor);
    expect(await platform.svc('status')).toMatchObject({ state: 'running', supervisor: { state: 'running' } });
  });

  test('svc restart replaces every process, a call that runs is answered, and the session continues', async () => {
    const skill = await platform.addSkill('slow', ['everything/trigger-long-running-operation']);
    await platform.addRole('Slow', ['slow']);
    const slow = await platform.connect(await platform.addKey('slow'), `?skillIds=${skill}`);
    const before = await pids();
    const begun = Promise.withResolvers<void>();
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 4, steps: 40 } };
    const call = slow.client.callTool(params, { onprogress: () => begun.resolve() });
    await Promise.race([begun.promise, call]);
    await platform.svc('restart');
    expect(JSON.stringify(await call)).toContain('completed');
    expect([...(await pids())].filter((pid) => before.has(pid))).toEqual([]);
    await agent.works('after a restart');
    expect([agent.sessionsBegun(), slow.sessionsBegun()]).toEqual([1, 1]);
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
    // Installations of older versions have this value.
    platform.edit(`httpPort: ${httpPort}`, 'httpPort: auto');
    await platform.svc('up');
    expect(listening().map((one) => one.port)).not.toContain(httpPort);
    expect(listening().filter(({ address }) => !loopback.includes(address))).toEqual([]);
    await agent.works('on loopback again');
  });

  describe('with three nodes of the bus instead of one', () => {
    let calls = 0;
    async function call(): Promise<void> {
      const message = `call ${++calls}`;
      expect(await agent.text('echo', { message })).toBe(`Echo: ${message}`);
    }
    const inData = () => readdirSync(platform.installation.dataDir).filter((name) => /^nats/.test(name));
    const nodes = async () => [...(await platform.services()).keys()].filter((name) => name.startsWith('nats'));

    test('the data of one is carried to three, and the session of an agent continues', async () => {
      platform.edit('nats: 1', 'nats: 3');
      const output = await platform.up();
      expect(output).toMatch(/The bus has 3 nodes in place of 1, with its data: \d+ usage records, 2 sessions\./);
      expect(await nodes()).toEqual(['nats', 'nats-2', 'nats-3']);
      expect(inData()).toEqual(['nats-cluster']);
      await call();
      expect(agent.sessionsBegun()).toBe(1);
    });

    test.each(['nats', 'nats-2', 'nats-3'])(
      '%s, killed amid calls, restarts, and the agent continues',
      async (name) => {
        const killed = (await platform.services()).get(name)?.pid;
        process.kill(Number(killed), 'SIGKILL');
        // A node is healthy once it has the data of the others. Then the next one may be killed.
        await expectCallsUntil(async () => {
          const all = await platform.services();
          const isAnother = all.get(name)?.pid !== killed;
          return isAnother && [...all.values()].every(({ state }) => state === 'healthy');
        }, call);
        await call();
        expect(agent.sessionsBegun()).toBe(1);
      },
    );

    test('back to one node, all data is still there', async () => {
      platform.edit('nats: 3', 'nats: 1');
      await platform.svc('up');
      expect([inData(), await nodes()]).toEqual([['nats'], ['nats']]);
      await call();
      expect(agent.sessionsBegun()).toBe(1);
    });
  });

  test('svc.yaml changes several processes to one and back, on the same data', async () => {
    const keys = async () => (await platform.svc('keys', 'list')).keys.map(({ id }: { id: string }) => id);
    const before = await keys();
    platform.edit('topology: distributed', 'topology: embedded');
    const { stderr } = await platform.run(['up']);
    expect(stderr).toContain('~ topology: distributed → embedded');
    expect((await pids()).size).toBe(1);
    expect(await keys()).toEqual(before);
    platform.edit('topology: embedded', 'topology: distributed');
    await platform.svc('up');
    expect((await pids()).size).toBe(5);
    expect(await keys()).toEqual(before);
  });
});

describe.skipIf(!hasNatsServer)('on a real server that somebody else runs', () => {
  const dir = folderOfEachTest();

  test('nothing is provisioned, and everything checked', async () => {
    await using platform = await Platform.init({ topology: 'distributed' });
    const seeds = busSeedsOf(secretFilesOf(platform.installation));
    const others = await TestServer.start(dir(), { seeds: { ...seeds, callout: newSeeds().callout } });
    platform.edit('  servers: auto', `  servers: [${others.url}]`);
    const { code, json } = await platform.fails('up');
    const [callout, system] = [seeds.callout, seeds.system].map((seed) => publicBusKey(seed.reveal()));
    expect([code, json.error.message, json.error.hint]).toEqual([
      3,
      expect.stringContaining('does not know the user of our callout account'),
      expect.stringContaining(`callout ${callout}, system ${system}`),
    ]);
    await others.stop();
    // An operator of that NATS would configure it like this, from the public keys that `svc up` prints.
    const ours = await TestServer.start(dir(), { seeds });
    onTestFinished(() => ours.stop());
    platform.edit(others.url, ours.url);
    const { services } = await platform.svc('up');
    expect(services.map(({ name, state }: Record<string, string>) => [name, state])).toEqual(
      names.slice(0, 4).map((name) => [name, 'healthy']),
    );
    const { agent } = await platform.addAgent();
    expect(await agent.text('echo', { message: 'over theirs' })).toBe('Echo: over theirs');
  });
});
