import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import type { Agent } from './agent.ts';
import type { Call } from './chaos/agents.ts';
import { hasNatsServer, Platform, startTimeoutMs } from './platform.ts';
import { callsDuring } from './use.ts';

// Starting and stopping processes one after the other while everything is in use.
vi.setConfig({ testTimeout: 180_000 });

/** A platform with two remote-mcps behind Caddy, with everything that is real. */
describe.skipIf(!hasNatsServer || !hasCaddy)('through Caddy', () => {
  let platform: Platform;
  let key: string;
  let skill: string;
  let agent: Agent;

  beforeAll(async () => {
    const settings = (yaml: string) => yaml.replace('\n  remote-mcp: 1\n', '\n  remote-mcp: 2\n');
    platform = await Platform.start({ topology: 'distributed', settings });
    skill = await platform.addEcho();
    key = await platform.addKey('agent');
    agent = await platform.connect(key, `?skillIds=${skill}`);
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  async function underLoad(work: () => Promise<unknown>): Promise<readonly Call[]> {
    return callsDuring(work, { url: `${platform.mcpUrl}?skillIds=${skill}`, key, agents: 6, everyMs: 25 });
  }
  const bad = (calls: readonly Call[]) => calls.filter(({ outcome }) => outcome !== 'answered');

  test('during a rolling restart no call fails', async () => {
    platform.edit('sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 600000');
    const before = await platform.services();
    const calls = await underLoad(() => platform.svc('up'));
    const after = await platform.services();
    const changed = [...after.keys()].filter((name) => before.get(name)?.pid !== after.get(name)?.pid);
    expect(changed).toEqual(['remote-mcp', 'remote-mcp-2']);
    expect(bad(calls)).toEqual([]);
    expect(await agent.text('echo', { message: 'after all' })).toBe('Echo: after all');
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  test.each(['remote-mcp', 'remote-mcp-2'])(
    '%s, killed: failed calls are named, and sessions continue',
    async (name) => {
      let backAt = 0;
      const calls = await underLoad(async () => {
        await platform.killService(name);
        backAt = performance.now();
      });
      const failed = bad(calls);
      for (const { outcome, told } of failed)
        expect([outcome, told]).toEqual(['refused', expect.stringMatching(/^50[23] /)]);
      for (const { told } of failed) expect(told).toMatch(/was not carried out|may have been carried out or not/);
      expect(failed.filter(({ begun }) => begun > backAt)).toEqual([]);
      expect(await agent.text('echo', { message: name })).toBe(`Echo: ${name}`);
      expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
    },
  );

  test('Caddy, killed, is back, and sessions go on', async () => {
    await platform.killService('caddy');
    expect(await agent.text('echo', { message: 'front' })).toBe('Echo: front');
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });
});
