import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Agent } from './agent.ts';
import { expectCallsUntil } from './calls-meanwhile.ts';
import { freeBusPorts } from './free-ports.ts';
import { hasNatsServer, Platform, startTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: startTimeoutMs });

/** A platform that had one node of NATS and gets three, with an agent who notices nothing of it. */
describe.skipIf(!hasNatsServer)('on real servers', () => {
  let platform: Platform;
  let agent: Agent;
  let calls = 0;

  beforeAll(async () => {
    platform = await Platform.start({ topology: 'distributed' });
    const ports = await freeBusPorts(3);
    platform.edit(`port: ${platform.busPorts.port}`, `port: ${ports.port}`);
    const skill = await platform.addEcho();
    agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
    await call();
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  const pidOf = async (name: string) => (await platform.services()).get(name)?.pid ?? 0;
  async function call(): Promise<void> {
    const message = `call ${++calls}`;
    expect(await agent.text('echo', { message })).toBe(`Echo: ${message}`);
  }
  const inData = (name: string) => existsSync(join(platform.installation.dataDir, name));
  const sessionsBegun = () => agent.sent.filter(({ method }) => method === 'initialize').length;

  test('the data of one node is carried to three, and the session of an agent continues', async () => {
    platform.edit('nats: 1', 'nats: 3');
    const { stderr, code } = await platform.run(['up']);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/The bus has 3 in the place of 1 nodes, with what it kept: \d+ usage records, 1 sessions\./);
    const nodes = [...(await platform.services()).keys()].filter((name) => name.startsWith('nats'));
    expect(nodes).toEqual(['nats', 'nats-2', 'nats-3']);
    expect([inData('nats'), inData('bus-carried'), inData('nats-cluster/nats-3')]).toEqual([false, false, true]);
    await call();
    expect(sessionsBegun()).toBe(1);
  });

  test.each(['nats', 'nats-2', 'nats-3'])('%s, killed amid calls, restarts, and the agent continues', async (name) => {
    const killed = await pidOf(name);
    process.kill(killed, 'SIGKILL');
    // A node is healthy once it has the data of the others. Then the next one may be killed.
    await expectCallsUntil(async () => {
      const all = await platform.services();
      const isAnother = all.get(name)?.pid !== killed;
      return isAnother && [...all.values()].every(({ state }) => state === 'healthy');
    }, call);
    await call();
    expect(sessionsBegun()).toBe(1);
  });

  test('back to one node, all data is still there', async () => {
    platform.edit('nats: 3', 'nats: 1');
    await platform.svc('up');
    expect([inData('nats'), inData('bus-carried'), inData('nats-cluster')]).toEqual([true, false, false]);
    await call();
    expect(sessionsBegun()).toBe(1);
    expect([...(await platform.services()).keys()].filter((name) => name.startsWith('nats'))).toHaveLength(1);
  });
});
