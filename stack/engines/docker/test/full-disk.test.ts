import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { canMount, SmallDisk } from '../../../test/small-disk.ts';
import { until } from '../../../test/until.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000 });

test.skipIf(!canMount || dockerHost === null)(
  'a full disk of Docker is reported by name; calls work, and svc up repairs it once there is room',
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'svc-small-docker-'));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const disk = stack.use(SmallDisk.mount(folder, 32));
    const trial = stack.use(await DockerTrial.init());
    stack.defer(() => disk.makeRoom());
    const { docker, id, platform } = trial;
    // Every volume is a folder on the small disk.
    for (const part of ['backend', 'runtime', 'nats']) {
      const device = join(disk.folder, part);
      mkdirSync(device);
      const DriverOpts = { type: 'none', o: 'bind', device };
      await docker.createVolume({ Name: `svc-${id}-${part}`, Labels: { 'svc.installation': id }, DriverOpts });
    }
    await trial.up();
    const agent = await trial.agentWithEcho();
    const calls = async () => {
      for (let i = 0; i < 20; i++) expect(await agent.text('echo', { text: `${i}` })).toBe(`You said: ${i}`);
    };

    disk.fill();
    const full = /The disk is full: the volume "svc-\w+-\w+" has \d+ KB left/;
    expect((await platform.svc('status')).fullDisk).toMatch(full);
    // The runtime writes a usage record to the bus about once a second.
    await until(async () => {
      await calls();
      return (await platform.services()).get('nats')?.state !== 'healthy';
    }, 60_000);
    expect((await platform.fails('up')).json.error.message).toMatch(full);
    await calls();

    disk.makeRoom();
    await trial.up();
    expect(await platform.svc('status')).toMatchObject({ state: 'running', fullDisk: null });
    await platform.addRole('after', []);
    // The bus had stored the agent's session before the disk was full.
    await trial.works(agent, 'kept');
  },
);
