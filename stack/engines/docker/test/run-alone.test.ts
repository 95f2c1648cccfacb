import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openBusContent } from '../../../../services/kit/bus/open-content.ts';
import type { Plan } from '../../../plan/plan.ts';
import { busSeedsOf } from '../../../secrets/secrets.ts';
import { readPlan } from '../../plan-of.ts';
import type { OwnDaemon } from '../daemon.ts';
import { givenDirOf } from '../given-files.ts';
import { connectToOwnDaemon } from '../own-daemon.ts';
import { runContainersAlone } from '../run-alone.ts';
import { measureVolumes } from '../volume-tasks.ts';
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
  return [...containers.flatMap(({ Names }) => Names), ...networks.map(({ Name }) => Name)].sort();
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

  const runBus = (changed: Partial<Parameters<typeof runContainersAlone>[0]> = {}) =>
    runContainersAlone({ plan, daemon, bus: true, graph: false, signal, ...changed });

  test('NATS runs on loopback, for authenticated clients, and leaves only its volume', async () => {
    const alone = await runBus();
    const [node, way] = await Promise.all(['nats', 'forward'].map((name) => trial.containerOf(name).inspect()));
    const published = Object.entries(way?.NetworkSettings.Ports ?? {}).map(([port, at]) => [port, at?.[0]?.HostIp]);
    expect(published).toEqual([['9000/tcp', '127.0.0.1']]);
    expect(Object.keys(node?.NetworkSettings.Networks ?? {})).toEqual([`svc-${trial.id}-bus`]);
    expect([node?.HostConfig.PortBindings, node?.HostConfig.RestartPolicy?.Name]).toEqual([{}, 'no']);
    const openAs = (secrets: Plan['secrets']) =>
      openBusContent({ engine: 'nats', servers: alone.bus, caPath: null, seeds: busSeedsOf(secrets), keyMaxAgeMs });
    await (await openAs(plan.secrets)).close();
    await expect(openAs({ ...plan.secrets, busCalloutSeed: plan.secrets.busIssuerSeed })).rejects.toThrow();
    await alone.stop();
    expect([await leftIn(trial), existsSync(givenDirOf(plan.installation, 'nats'))]).toEqual([[], false]);
  });

  test('what a killed command leaves is ended by the next start, and a platform that state/ does not record is refused', async () => {
    // The test does not stop the nodes that it starts here.
    await runBus();
    const left = ['/svc-ID-forward', '/svc-ID-nats', 'svc-ID', 'svc-ID-bus', 'svc-ID-forward'];
    expect(await leftIn(trial)).toEqual(left.map((name) => name.replace('ID', trial.id)));
    await trial.up();
    const before = await leftIn(trial);
    expect(before.filter((name) => name.includes('forward'))).toEqual([]);
    expect((await trial.containerOf('nats').inspect()).HostConfig.RestartPolicy?.Name).toBe('unless-stopped');
    const record = join(plan.installation.stateDir, 'containers.json');
    renameSync(record, `${record}.lost`);
    await expect(runBus()).rejects.toMatchObject({ code: 'conflict', hint: 'Repair it: svc up' });
    expect(await leftIn(trial)).toEqual(before);
    renameSync(`${record}.lost`, record);
    await trial.platform.svc('down');
  });

  test('a node that does not get ready is reported with its reason and removed', async () => {
    const site = { ...plan.site, dataPathOf: () => '/nowhere' };
    await expect(runBus({ plan: { ...plan, site } })).rejects.toThrow('/nowhere');
    expect(await leftIn(trial)).toEqual([]);
  });

  test('interrupted, it leaves nothing', async () => {
    const interrupting = new AbortController();
    const refused = expect(runBus({ signal: interrupting.signal })).rejects.toMatchObject({ code: 'cancelled' });
    // NATS is ready soon after Docker has created its container.
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
      // In /proc, du cannot read the folders of other processes.
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
