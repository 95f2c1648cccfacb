import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { rpc, send } from '../../services/remote-mcp/test/raw.ts';
import type { Agent } from './agent.ts';
import { hasDgraph, hasNatsServer, Platform, startTimeoutMs } from './platform.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: 2 * startTimeoutMs });

test.skipIf(!canMount || !hasNatsServer)(
  'a full disk of the bus is reported by name; calls work, and svc up repairs it once there is room',
  async () => {
    await using platform = await Platform.init({ topology: 'distributed' });
    using disk = SmallDisk.mount(join(platform.installation.dataDir, 'nats'), 16);
    await platform.svc('up');
    const skill = await platform.addEcho();
    const key = await platform.addKey('agent');
    const agent = await platform.connect(key, `?skillIds=${skill}`);

    disk.fill();
    // Records of use are what the bus is given by itself, about once a second.
    await until(async () => {
      await calls(agent, 20);
      return (await platform.services()).get('nats')?.state !== 'healthy';
    }, startTimeoutMs);
    expect((await platform.services()).get('nats')).toMatchObject({
      state: 'unhealthy',
      reason: expect.stringMatching(
        /^Its disk is full \(.*no space left on device\)\. Free some space, then run svc up/,
      ),
    });
    const told = (await platform.run(['status'])).stdout;
    expect(told).toMatch(/^nats: Its disk is full/m);
    expect(told).toContain(`The disk is full: "${disk.folder}" has 0 KB left`);
    expect((await platform.fails('up')).json.error.message).toContain(`The disk is full: "${disk.folder}"`);
    await calls(agent, 20);
    await platform.addRole('while-full', []);
    // A session that could not be kept is not promised, and nothing of the machine is told.
    const body = rpc('initialize', { protocolVersion: '2025-11-25' });
    const refused = await send(platform.mcpUrl, { key, body });
    expect([refused.status, refused.body.error?.data.code]).toEqual([503, 'unavailable']);
    expect(refused.body.error?.message).toMatch(/disk of the bus is full|did not confirm in time/);
    expect(JSON.stringify(refused.body)).not.toContain(disk.folder);

    disk.makeRoom();
    await platform.svc('up');
    expect((await platform.services()).get('nats')?.state).toBe('healthy');
    expect(await rolesOf(platform)).toContain('while-full');
    await platform.connect(key);
    // The session of before was kept.
    await until(async () => (await agent.text('echo', { message: 'x' }).catch(() => '')) === 'Echo: x');
  },
);

test.skipIf(!canMount || !hasNatsServer || !hasDgraph)(
  'a Dgraph whose disk gets full is named by svc status; calls go on, and it is back by itself when there is room',
  async () => {
    await using platform = await Platform.init({ topology: 'distributed', graph: 'dgraph' });
    using disk = SmallDisk.mount(join(platform.installation.dataDir, 'dgraph'), 400);
    await platform.svc('up');
    const skill = await platform.addEcho();
    const agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
    const acknowledged = ['All'];
    const addRole = async (name: string) => {
      const { code } = await platform.run(['role', 'create', name]);
      if (code === 0) acknowledged.push(name);
      return code;
    };
    await addRole('before');

    disk.fill();
    // It writes into files that it has mapped: the system ends it where there is no room behind them.
    for (let i = 0; (await addRole(`full-${i}`)) === 0; i++) expect(i).toBeLessThan(100);
    expect((await platform.svc('status')).fullDisk).toContain(`The disk is full: "${disk.folder}" has 0 KB left`);
    const alpha = (await platform.services()).get('dgraph-alpha');
    expect(alpha?.restarts).toBeGreaterThan(0);
    expect(alpha?.state).not.toBe('healthy');
    await calls(agent, 20);

    disk.makeRoom();
    await until(async () => (await addRole('after')) === 0, startTimeoutMs);
    expect(await rolesOf(platform)).toEqual(expect.arrayContaining(acknowledged));
    expect((await platform.svc('status')).fullDisk).toBeNull();
  },
);

async function rolesOf(platform: Platform): Promise<string[]> {
  return (await platform.svc('role', 'list')).roles.map(({ name }: { name: string }) => name);
}

async function calls(agent: Agent, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await agent.text('echo', { message: `${i}` })).toBe(`Echo: ${i}`);
}
