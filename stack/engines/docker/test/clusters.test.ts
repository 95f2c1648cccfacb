import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { secretFilesOf } from '../../../secrets/secrets.ts';
import type { Agent } from '../../../test/agent.ts';
import { expectCallsUntil } from '../../../test/calls-meanwhile.ts';
import { listVolumes } from '../volumes.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const nodes = ['nats', 'nats-2', 'nats-3'];
/** A platform that grows from one node of each kind to three, and an agent that must not notice. */
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

  async function call(): Promise<void> {
    const text = `call ${++calls}`;
    expect(await agent.text('echo', { text })).toContain(text);
  }
  const sessionsBegun = () => agent.sent.filter(({ method }) => method === 'initialize').length;
  async function busVolumes(): Promise<readonly string[]> {
    const volumes = await listVolumes(trial.docker, trial.id);
    return [...volumes].flatMap((name) => /-(nats.*)$/.exec(name)?.[1] ?? []).sort();
  }
  const pidOf = async (part: string) => (await trial.containerOf(part).inspect()).State.Pid;

  test('the data of one node is carried to three, and the session of an agent continues', async () => {
    trial.platform.edit('  nats: 1\n', '  nats: 3\n');
    trial.platform.edit('  remote-mcp: 1\n', '  remote-mcp: 3\n');
    trial.platform.edit('  runtime: 1\n', '  runtime: 3\n');
    const said = await trial.up();
    expect(said).toMatch(/The bus has 3 in the place of 1 nodes, with what it kept: \d+ usage records, 1 sessions\./);
    const started = Object.keys(await trial.ids());
    expect(started.filter((part) => part.startsWith('nats')).sort()).toEqual(nodes);
    expect(await busVolumes()).toEqual(['nats-1', 'nats-2', 'nats-3']);
    // All remote-mcps share one address behind a front.
    expect(started).toContain('caddy');
    await call();
    expect(sessionsBegun()).toBe(1);
    expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
  });

  test.each([...nodes, 'remote-mcp', 'runtime'])(
    '%s, killed amid calls, restarts by itself, and the agent continues',
    async (name) => {
      const killed = await pidOf(name);
      process.kill(killed, 'SIGKILL');
      // A node is ready once it has the data of the others. Then the next one may be killed.
      await expectCallsUntil(async () => {
        const isAnother = ![0, killed].includes(await pidOf(name));
        return isAnother && (await trial.platform.svc('status')).state === 'running';
      }, call);
      await call();
      expect(sessionsBegun()).toBe(1);
    },
  );

  test('stopped all at once, they are back together with the next svc up', async () => {
    await Promise.all(nodes.map((node) => trial.containerOf(node).stop()));
    expect(await trial.up()).toContain('nats-2 was stopped: it is replaced.');
    await trial.works(agent, 'together again');
    expect(sessionsBegun()).toBe(1);
  });

  test('with a changed shared secret they find each other again', async () => {
    writeFileSync(secretFilesOf(trial.platform.installation).busRoutes, `${'another-'.repeat(4)}\n`);
    expect(await trial.up()).toMatch(/secrets\/bus-routes\.key: \w+ → \w+/);
    await trial.works(agent, 'known again');
    expect(sessionsBegun()).toBe(1);
  });

  test('back to one node, all data is still there, and the single remote-mcp takes the address back', async () => {
    trial.platform.edit('  nats: 3\n', '  nats: 1\n');
    trial.platform.edit('  remote-mcp: 3\n', '  remote-mcp: 1\n');
    await trial.up();
    expect(Object.keys(await trial.ids())).not.toContain('caddy');
    expect(await busVolumes()).toEqual(['nats']);
    await call();
    expect(sessionsBegun()).toBe(1);
  });
});
