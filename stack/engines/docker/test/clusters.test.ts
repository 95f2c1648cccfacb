import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { secretFilesOf } from '../../../secrets/secrets.ts';
import type { Agent } from '../../../test/agent.ts';
import { expectCallsUntil } from '../../../test/calls-meanwhile.ts';
import { listVolumes } from '../volumes.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const nodes = ['nats', 'nats-2', 'nats-3'];
/** A platform grows from one node of each kind to three, and its agent must not notice the change. */
describe.skipIf(dockerHost === null)('clusters on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;
  let calls = 0;

  beforeAll(async () => {
    trial = await DockerTrial.init();
    await trial.up();
    agent = await trial.agentWithEcho();
    await call();
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  /** Calls a tool in the agent's first session. */
  async function call(): Promise<void> {
    const text = `call ${++calls}`;
    expect(await agent.text('echo', { text })).toContain(text);
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  }
  async function scale(from: number, to: number): Promise<string> {
    for (const kind of ['nats', 'remote-mcp', 'runtime'])
      trial.platform.edit(`\n  ${kind}: ${from}\n`, `\n  ${kind}: ${to}\n`);
    return trial.up();
  }
  async function expectBus(parts: readonly string[], volumes: readonly string[], hasFront: boolean): Promise<void> {
    const started = Object.keys(await trial.ids());
    const there = await listVolumes(trial.docker, trial.id);
    expect(started.filter((part) => part.startsWith('nats')).sort()).toEqual(parts);
    expect([...there].flatMap((name) => /-(nats.*)$/.exec(name)?.[1] ?? []).sort()).toEqual(volumes);
    // The front gives all remote-mcps one address.
    expect(started.includes('caddy')).toBe(hasFront);
    await call();
  }

  test('the data of one node is carried to three, and the session of an agent continues', async () => {
    const output = await scale(1, 3);
    expect(output).toMatch(/The bus has 3 nodes in place of 1, with its data: \d+ usage records, 1 sessions\./);
    await expectBus(nodes, ['nats-1', 'nats-2', 'nats-3'], true);
    expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
  });

  test.each([...nodes, 'remote-mcp', 'runtime'])(
    '%s, killed amid calls, restarts by itself, and the agent continues',
    async (name) => {
      const pid = async () => (await trial.containerOf(name).inspect()).State.Pid;
      const killed = await pid();
      process.kill(killed, 'SIGKILL');
      // A restarted node is ready once it has the data of the other nodes. Only then may the next node be killed.
      await expectCallsUntil(async () => {
        const isAnother = ![0, killed].includes(await pid());
        return isAnother && (await trial.platform.svc('status')).state === 'running';
      }, call);
      await call();
    },
  );

  test('stopped all at once, they are back together with the next svc up', async () => {
    await Promise.all(nodes.map((node) => trial.containerOf(node).stop()));
    expect(await trial.up()).toContain('nats-2 was stopped: it is replaced.');
    await trial.works(agent, 'together again');
    await call();
  });

  test('with a changed shared secret they find each other again', async () => {
    writeFileSync(secretFilesOf(trial.platform.installation).busRoutes, `${'another-'.repeat(4)}\n`);
    expect(await trial.up()).toMatch(/secrets\/bus-routes\.key: \w+ → \w+/);
    await trial.works(agent, 'known again');
    await call();
  });

  test('back to one node, all data is still there, and the single remote-mcp takes the address back', async () => {
    await scale(3, 1);
    await expectBus(['nats'], ['nats'], false);
  });
});
