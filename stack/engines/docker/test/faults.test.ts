import { cpSync, renameSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Agent } from '../../../test/agent.ts';
import { until } from '../../../test/until.ts';
import { listVolumes, releaseVolumes } from '../volumes.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 400_000 });

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

  const dir = () => trial.platform.installation.dir;
  const copyOf = () => `${dir()}-copy`;
  const inCopy = async (...typed: readonly string[]) => {
    const { code, stdout } = await trial.platform.run([...typed, '--json'], { env: { SVC_DIR: copyOf() } });
    return { code, json: JSON.parse(stdout) };
  };
  const servers = async () =>
    (await trial.platform.svc('server', 'list')).mcpServers.map(({ name }: { name: string }) => name);
  const volumes = async () => [...(await listVolumes(trial.docker, trial.id))].sort();

  /** The request of `docker volume prune --all`. Before Docker 23 the command removes every unused volume without `--all`. */
  const allVolumes = async () => (Number((await trial.docker.version()).ApiVersion) < 1.42 ? {} : { all: ['true'] });

  test.each([
    { what: 'whole', left: [] },
    { what: 'without state/', left: ['state'] },
  ])('its folder, copied $what, touches nothing of the original', async ({ left }) => {
    cpSync(dir(), copyOf(), { recursive: true });
    for (const name of left) rmSync(`${copyOf()}/${name}`, { recursive: true });
    const before = await trial.ids();
    const message = expect.stringContaining(`copy of the installation in "${dir()}"`);
    expect(await inCopy('up')).toMatchObject({ code: 5, json: { error: { message } } });
    if (left.length === 0) expect(await inCopy('down')).toMatchObject({ code: 5 });
    expect((await inCopy('status')).json).toMatchObject({ state: 'stopped' });
    expect(await trial.changedSince(before)).toEqual([]);
    rmSync(copyOf(), { recursive: true });
  });

  test('its copied folder becomes an installation only without the data, which is in volumes', async () => {
    cpSync(dir(), copyOf(), { recursive: true });
    const before = await trial.ids();
    const hint = expect.stringContaining('--as-copy --start-empty');
    expect(await inCopy('up', '--as-copy')).toMatchObject({ code: 1, json: { error: { hint } } });
    expect(await trial.changedSince(before)).toEqual([]);
    rmSync(copyOf(), { recursive: true });
  });

  test('its moved folder carries on with its data, which docker volume prune --all leaves alone', async () => {
    await trial.platform.svc('down');
    const kept = await volumes();
    const filters = JSON.stringify({ ...(await allVolumes()), label: [`svc.installation=${trial.id}`] });
    await trial.docker.pruneVolumes({ filters });
    expect(await volumes()).toEqual(kept);
    renameSync(dir(), copyOf());
    expect(await inCopy('up')).toMatchObject({ code: 0 });
    expect(await inCopy('down')).toMatchObject({ code: 0 });
    renameSync(copyOf(), dir());
    expect(await trial.up()).toContain('was moved here');
    expect(await servers()).toEqual(['demo']);
  });

  test('with lost volumes it does not start: an error names them, until its name was typed', async () => {
    await trial.platform.svc('down');
    await releaseVolumes(trial.docker, trial.id);
    const lost = `svc-${trial.id}-backend`;
    await trial.docker.getVolume(lost).remove();
    const { code, json } = await trial.platform.fails('up');
    expect([code, json.error.message]).toEqual([1, `Data of this installation is missing: the volume ${lost}.`]);
    const unnamed = await trial.platform.fails('up', '--start-empty');
    expect(unnamed.code).toBe(2);
    expect(await volumes()).not.toContain(lost);
    const [, name = ''] = /--confirm (\S+)\.$/.exec(unnamed.json.error.hint) ?? [];
    await trial.platform.svc('up', '--start-empty', '--confirm', name);
    expect(await servers()).toEqual([]);
  });
});
