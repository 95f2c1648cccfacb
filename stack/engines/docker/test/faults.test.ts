import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Agent } from '../../../test/agent.ts';
import { until } from '../../../test/until.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;

  beforeAll(async () => {
    trial = await DockerTrial.init();
    await trial.up();
    agent = await trial.agentWithEcho(await trial.platform.addKey('agent'));
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  test('a killed part restarts by itself, and status reports it; svc up replaces a paused part', async () => {
    await trial.containerOf('backend').kill();
    // Docker treats a kill through its API as a wish of the operator, but not a kill of the process inside.
    await trial.containerOf('backend').start();
    const { State } = await trial.containerOf('runtime').inspect();
    process.kill(State.Pid, 'SIGKILL');
    await until(async () => {
      const { services } = await trial.platform.svc('status');
      const runtime = services.find(({ name }: { name: string }) => name === 'runtime');
      return runtime.restarts === 1 && services.every(({ state }: { state: string }) => state === 'healthy');
    }, 90_000);
    const told = (await trial.platform.run(['status'])).stdout;
    expect(told).toMatch(/runtime: ended once without being asked, .*: it was killed \(SIGKILL\)/);
    await trial.works(agent, 'back');
    await trial.containerOf('runtime').pause();
    expect(await trial.up()).toContain('runtime was paused: it is replaced.');
    await trial.works(agent, 'no longer paused');
  });

  test('a hanging part is killed and restarts by itself; a part that reports not ready stays', async () => {
    const restartsOf = async (part: string) => (await trial.containerOf(part).inspect()).RestartCount;
    const hanging = ['frontend', 'nats'];
    const before = Object.fromEntries(
      await Promise.all([...hanging, 'remote-mcp'].map(async (part) => [part, await restartsOf(part)] as const)),
    );
    for (const part of hanging) {
      // Silence counts only after the first answer to Docker.
      await until(async () => (await trial.containerOf(part).inspect()).State.Health?.Status === 'healthy', 60_000);
      await trial.inContainer(part, 'kill -STOP -1');
    }
    for (const part of hanging) {
      await until(async () => (await restartsOf(part)) === (before[part] ?? 0) + 1, 120_000);
    }
    // The part misses the bus during that time.
    expect(await restartsOf('remote-mcp')).toBe(before['remote-mcp']);
    await trial.platform.running(60_000);
    await trial.works(agent, 'after silence');
  });
});
