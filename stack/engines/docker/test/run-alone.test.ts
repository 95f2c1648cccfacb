import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { all } from '../../../../services/backend/files/blobs.contract.ts';
import { readContent } from '../../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../../services/backend/graph/open-content.ts';
import { openBusContent } from '../../../../services/kit/bus/open-content.ts';
import { dgraphAddressOf } from '../../../graph/dgraph-address.ts';
import { provisionGraph } from '../../../graph/provision-graph.ts';
import type { Plan } from '../../../plan/plan.ts';
import { busSeedsOf } from '../../../secrets/secrets.ts';
import { readPlan } from '../../plan-of.ts';
import type { OwnDaemon } from '../daemon.ts';
import { givenDirOf } from '../given-files.ts';
import { connectToOwnDaemon } from '../own-daemon.ts';
import { runContainersAlone } from '../run-alone.ts';
import { measureVolumes } from '../volume-tasks.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const { signal } = new AbortController();
const keyMaxAgeMs = 3_600_000;
const env = { DOCKER_HOST: dockerHost ?? '' };

const lookMs = 20;

async function leftIn({ docker, id }: DockerTrial): Promise<readonly string[]> {
  const filters = { label: [`svc.installation=${id}`] };
  const containers = await docker.listContainers({ all: true, filters });
  const networks = await docker.listNetworks({ filters });
  return [...containers.flatMap(({ Names }) => Names), ...networks.map(({ Name }) => Name)];
}

describe.skipIf(dockerHost === null)('alone on a real Docker', () => {
  let trial: DockerTrial;
  let plan: Plan;
  let daemon: OwnDaemon;
  beforeAll(async () => {
    trial = await DockerTrial.init();
    await trial.up();
    await trial.platform.svc('down');
    plan = readPlan(trial.platform.installation);
    daemon = await connectToOwnDaemon(plan.installation, env);
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  const openBus = (servers: readonly string[]) =>
    openBusContent({ engine: 'nats', servers, caPath: null, seeds: busSeedsOf(plan.secrets), keyMaxAgeMs });
  const usage = async () => {
    const alone = await runContainersAlone({ plan, daemon, bus: true, graph: false, signal });
    const bus = await openBus(alone.bus);
    const found = (await all(bus.records('usage'))).map(({ payload }) => Buffer.from(payload).toString());
    await bus.close();
    await alone.stop();
    return found;
  };

  test('NATS runs on its volume, on loopback, for authenticated clients, and leaves only its data', async () => {
    const alone = await runContainersAlone({ plan, daemon, bus: true, graph: false, signal });
    const [node, way] = await Promise.all(['nats', 'forward'].map((name) => trial.containerOf(name).inspect()));
    const published = Object.entries(way?.NetworkSettings.Ports ?? {}).map(([port, at]) => [port, at?.[0]?.HostIp]);
    expect(published).toEqual([['9000/tcp', '127.0.0.1']]);
    expect(Object.keys(node?.NetworkSettings.Networks ?? {})).toEqual([`svc-${trial.id}-bus`]);
    expect([node?.HostConfig.PortBindings, node?.HostConfig.RestartPolicy?.Name]).toEqual([{}, 'no']);
    const bus = await openBus(alone.bus);
    await bus.addRecords('usage', Readable.from([{ payload: Buffer.from('kept') }]));
    await bus.close();
    const stranger = { ...plan.secrets, busCalloutSeed: plan.secrets.busIssuerSeed };
    const shown = { caPath: null, seeds: busSeedsOf(stranger), keyMaxAgeMs };
    await expect(openBusContent({ engine: 'nats', servers: alone.bus, ...shown })).rejects.toThrow();
    await alone.stop();
    expect([await leftIn(trial), existsSync(givenDirOf(plan.installation, 'nats'))]).toEqual([[], false]);
    expect(await usage()).toEqual(['kept']);
  });

  test('leftovers of a killed command are ended by the next start', async () => {
    const program = fileURLToPath(new URL('./run-alone-and-die.ts', import.meta.url));
    const args = [program, plan.installation.dir];
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, ...env } });
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
    const left = ['/svc-ID-forward', '/svc-ID-nats', 'svc-ID', 'svc-ID-bus', 'svc-ID-forward'];
    expect([...(await leftIn(trial))].sort()).toEqual(left.map((name) => name.replace('ID', trial.id)).sort());
    await trial.up();
    expect((await leftIn(trial)).filter((name) => name.includes('forward'))).toEqual([]);
    expect((await trial.containerOf('nats').inspect()).HostConfig.RestartPolicy?.Name).toBe('unless-stopped');
    await trial.platform.svc('down');
  });

  test('a platform that state/ does not record is refused, and keeps its containers', async () => {
    await trial.up();
    const record = join(plan.installation.stateDir, 'containers.json');
    const text = readFileSync(record, 'utf8');
    rmSync(record);
    const before = [...(await leftIn(trial))].sort();
    const running = runContainersAlone({ plan, daemon, bus: true, graph: false, signal });
    await expect(running).rejects.toMatchObject({ code: 'conflict', hint: 'Repair it: svc up' });
    expect([...(await leftIn(trial))].sort()).toEqual(before);
    writeFileSync(record, text);
    await trial.platform.svc('down');
  });

  test('a node that does not get ready is reported with its reason and removed', async () => {
    const site = { ...plan.site, dataPathOf: () => '/nowhere' };
    const failing = runContainersAlone({ plan: { ...plan, site }, daemon, bus: true, graph: false, signal });
    await expect(failing).rejects.toMatchObject({ message: expect.stringContaining('/nowhere') });
    expect(await leftIn(trial)).toEqual([]);
  });

  test('interrupted, it leaves nothing', async () => {
    const interrupting = new AbortController();
    const running = runContainersAlone({ plan, daemon, bus: true, graph: false, signal: interrupting.signal });
    const refused = expect(running).rejects.toMatchObject({ code: 'cancelled' });
    // NATS is ready soon after its container is there.
    while (!(await leftIn(trial)).some((name) => name.endsWith('nats'))) await pause(lookMs);
    interrupting.abort();
    await refused;
    expect(await leftIn(trial)).toEqual([]);
  });

  test('volumes are measured also while files disappear or are unreadable', async () => {
    const [closed = '', open = ''] = ['closed', 'open'].map((name) => `svc-${trial.id}-${name}`);
    const Labels = { 'svc.installation': trial.id };
    const file = join(mkdtempSync(join(tmpdir(), 'svc-measured-')), 'file');
    writeFileSync(file, Buffer.alloc(3_000_000, 1));
    for (const [Name, device] of [
      // du cannot read the folders of other processes there.
      [closed, '/proc'],
      [open, dirname(file)],
    ] as const)
      await trial.docker.createVolume({ Name, Labels, DriverOpts: { type: 'none', o: 'bind', device } });
    onTestFinished(() => rmSync(dirname(file), { recursive: true }));
    const { bytes } = await measureVolumes([closed, open], { plan, daemon, signal });
    expect(bytes.get(closed)).toBe(0);
    expect(bytes.get(open)).toBeGreaterThan(2_900_000);
  });
});

const hasDgraph = await haveDgraphImage(dockerHost);
test.skipIf(!hasDgraph)('Dgraph alone on a real Docker is reached on loopback through its own forwarder', async () => {
  await using trial = await DockerTrial.init({ graph: 'dgraph' });
  await trial.up();
  const plan = readPlan(trial.platform.installation);
  const daemon = await connectToOwnDaemon(plan.installation, env);
  const read = async (isRunning: boolean) => {
    const alone = await runContainersAlone({ plan, daemon, bus: false, graph: true, isRunning, signal });
    const { urls, servers } = alone.graph ?? expect.fail('it has none');
    await provisionGraph({ urls, secrets: plan.secrets, timeoutMs: 60_000, signal });
    const { HostConfig } = await trial.containerOf('forward').inspect();
    const hosts = Object.values(HostConfig.PortBindings ?? {}).flatMap((at: unknown) => JSON.stringify(at));
    for (const host of hosts) expect(host).toContain('"HostIp":"127.0.0.1"');
    const place = { ...dgraphAddressOf(plan), url: urls[0] ?? '', servers };
    const graph = await openGraphContent({ engine: 'dgraph', ...place, readOnly: true });
    const content = await readContent(graph);
    await graph.close();
    await alone.stop();
    return content;
  };
  const running = await read(true);
  expect(running[0]?.count).toBeGreaterThan(0);
  expect((await trial.platform.svc('status')).state).toBe('running');
  await trial.platform.svc('down');
  expect(await read(false)).toEqual(running);
  expect(await leftIn(trial)).toEqual([]);
});
