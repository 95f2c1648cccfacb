import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ping, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { createRoleMutation } from '../client/generated/operations.ts';
import type { Agent } from './agent.ts';
import { folderOfEachTest } from './folder-of-each-test.ts';
import { hasDgraph, hasNatsServer, Platform, startTimeoutMs } from './platform.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: 2 * startTimeoutMs });

const dir = folderOfEachTest();

test.skipIf(!canMount)(
  'on a full disk, changes are refused by name and all else works, also a stop; once there is room, all data is there',
  async () => {
    using disk = SmallDisk.mount(dir(), 96);
    await using platform = await Platform.start({ within: disk.folder });
    const { agent, key } = await platform.addAgent();
    const acknowledged = ['All'];

    disk.fill();
    acknowledged.push(...(await addRolesUntilRefused(platform)));
    const { code, json } = await platform.fails('role', 'create', 'one-more');
    expect([code, json.error.code, typeof json.error.hint]).toEqual([4, 'unavailable', 'string']);
    expect(json.error.message).toMatch(/disk is full/);
    await calls(agent, 20);
    expect(await rolesOf(platform)).toEqual(acknowledged.toSorted());
    expect((await platform.svc('status')).state).toBe('running');
    await expectNoSession(platform, key);
    disk.makeRoom();
    await platform.addRole('after', ['all']);
    acknowledged.push('after');
    expect(await rolesOf(platform)).toEqual(acknowledged.toSorted());
    await platform.connect(key);

    disk.fill();
    const begun = performance.now();
    await platform.svc('down');
    // The platform stopped by itself, and not at its deadline.
    expect(performance.now() - begun).toBeLessThan(8000);
    expect((await platform.fails('up')).json.error.message).toMatch(/disk is full/);
    disk.makeRoom();
    await platform.svc('up');
    expect(await rolesOf(platform)).toEqual(acknowledged.toSorted());
    await agent.works('after all');
  },
);

test.skipIf(!canMount || !hasNatsServer)(
  'a full disk of the bus is reported by name; calls work, and svc up repairs it once there is room',
  async () => {
    await using platform = await Platform.init({ topology: 'distributed' });
    using disk = SmallDisk.mount(join(platform.installation.dataDir, 'nats'), 16);
    await platform.svc('up');
    const { agent, key } = await platform.addAgent();

    disk.fill();
    // Only usage records reach the bus without a request, about once a second.
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
    const stdout = (await platform.run(['status'])).stdout;
    expect(stdout).toMatch(/^nats: Its disk is full/m);
    expect(stdout).toContain(`The disk is full: "${disk.folder}" has 0 KB left`);
    expect((await platform.fails('up')).json.error.message).toContain(`The disk is full: "${disk.folder}"`);
    await calls(agent, 20);
    await platform.addRole('while-full', []);
    const refusal = await expectNoSession(platform, key);
    expect(refusal.message).toMatch(/disk of the bus is full|did not confirm in time/);
    expect(JSON.stringify(refusal)).not.toContain(disk.folder);

    disk.makeRoom();
    await platform.svc('up');
    expect((await platform.services()).get('nats')?.state).toBe('healthy');
    expect(await rolesOf(platform)).toContain('while-full');
    await platform.connect(key);
    // The earlier session was kept.
    await agent.works('after all');
  },
);

test.skipIf(!canMount || !hasNatsServer || !hasDgraph)(
  'a Dgraph whose disk gets full is named by svc status; calls go on, and it is back by itself when there is room',
  async () => {
    await using platform = await Platform.init({ topology: 'distributed', graph: 'dgraph' });
    using disk = SmallDisk.mount(join(platform.installation.dataDir, 'dgraph'), 400);
    await platform.svc('up');
    const { agent } = await platform.addAgent();
    const acknowledged = ['All'];
    const addRole = async (name: string) => {
      const { code } = await platform.run(['role', 'create', name]);
      if (code === 0) acknowledged.push(name);
      return code;
    };
    await addRole('before');

    disk.fill();
    // Dgraph writes into mapped files: the system kills it when the disk has no room behind them.
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

/** Each is a kilobyte, and the free room inside databases is far less than all of them. */
const fillersMax = 500;

async function addRolesUntilRefused(platform: Platform): Promise<string[]> {
  const [backend, workspace] = [await platform.backend(), await platform.workspace()];
  const made: string[] = [];
  for (let i = 0; i < fillersMax; i++) {
    const input = { name: `filler-${String(i).padStart(4, '0')}`, description: 'x'.repeat(1000) };
    try {
      await backend.send(createRoleMutation, { workspace, input });
      made.push(input.name);
    } catch {
      return made;
    }
  }
  throw new Error('the disk is full and changes are taken');
}

async function rolesOf(platform: Platform): Promise<string[]> {
  return (await platform.svc('role', 'list')).roles.map(({ name }: { name: string }) => name);
}

async function calls(agent: Agent, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await agent.text('echo', { message: `${i}` })).toBe(`Echo: ${i}`);
}

/** A session that cannot be stored is not promised, and the key stays valid. */
async function expectNoSession({ mcpUrl }: Platform, key: string) {
  const { status, body } = await send(mcpUrl, { key, body: rpc('initialize', { protocolVersion: '2025-11-25' }) });
  expect([status, body.error?.data.code]).toEqual([503, 'unavailable']);
  expect((await send(mcpUrl, { key, body: ping })).status).toBe(200);
  return body.error;
}
