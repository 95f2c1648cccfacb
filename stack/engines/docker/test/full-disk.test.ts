import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { rpc, send } from '../../../../services/remote-mcp/test/raw.ts';
import type { Agent } from '../../../test/agent.ts';
import { canMount, SmallDisk } from '../../../test/small-disk.ts';
import { until } from '../../../test/until.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000 });

/** Every volume is a folder on that disk. */
async function makeVolumes({ docker, id }: DockerTrial, { folder }: SmallDisk): Promise<void> {
  for (const part of ['backend', 'runtime', 'nats']) {
    const device = join(folder, part);
    mkdirSync(device);
    const DriverOpts = { type: 'none', o: 'bind', device };
    await docker.createVolume({ Name: `svc-${id}-${part}`, Labels: { 'svc.installation': id }, DriverOpts });
  }
}

test.skipIf(!canMount || dockerHost === null)(
  'a full disk of Docker is reported by name; calls work, no acknowledged record is lost, and svc up repairs it once there is room',
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'svc-small-docker-'));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const disk = stack.use(SmallDisk.mount(folder, 32));
    const trial = stack.use(await DockerTrial.init());
    stack.defer(() => disk.makeRoom());
    const { platform } = trial;
    await makeVolumes(trial, disk);
    await trial.up();
    const key = await platform.addKey('agent');
    const agent = await trial.agentWithEcho(key);
    const acknowledged = ['All'];
    const addRole = async (name: string) => {
      const run = await platform.run(['role', 'create', name]);
      if (run.code === 0) acknowledged.push(name);
      return run;
    };
    await addRole('before');

    disk.fill();
    await calls(agent, 20);
    let refusal = await addRole('full-0');
    for (let i = 1; refusal.code === 0; i++) {
      expect(i).toBeLessThan(50);
      refusal = await addRole(`full-${i}`);
    }
    expect(refusal.stderr).toContain('The disk is full: nothing was saved');
    const full = /The disk is full: the volume "svc-\w+-\w+" has \d+ KB left/;
    expect((await platform.svc('status')).fullDisk).toMatch(full);
    // The runtime writes a usage record to the bus about once a second.
    await until(async () => {
      await calls(agent, 20);
      const { services } = await platform.svc('status');
      return services.find(({ name }: { name: string }) => name === 'nats').state !== 'healthy';
    }, 60_000);
    expect((await platform.fails('up')).json.error.message).toMatch(full);
    await calls(agent, 20);
    // A session that could not be stored is refused.
    const clientInfo = { name: 'test', version: '1' };
    const body = rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    const refused = await send(platform.mcpUrl, { key, body });
    expect([refused.status, refused.body.error?.data.code]).toEqual([503, 'unavailable']);
    expect(refused.body.error?.message).toMatch(/disk of the bus is full|did not confirm in time/);

    disk.makeRoom();
    await trial.up();
    expect(await platform.svc('status')).toMatchObject({ state: 'running', fullDisk: null });
    await addRole('after');
    const { roles } = await platform.svc('role', 'list');
    expect(roles.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining([...acknowledged, 'after']));
    await platform.connect(key);
    // The session from before the full disk was stored.
    await trial.works(agent, 'kept');
  },
);

async function calls(agent: Agent, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await agent.text('echo', { text: `${i}` })).toBe(`You said: ${i}`);
}
