import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readDefinition } from '../../../settings/check.ts';
import { listVolumes, releaseVolumes } from '../volumes.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 400_000 });

/** Time for elections of Dgraph, and for nodes that join late. */
const patienceMs = 90_000;
const upTimeoutMs = 300_000;
/** Time for four starts of the cluster. */
const restoreTimeoutMs = 600_000;

describe.skipIf(!(await haveDgraphImage(dockerHost)))('clusters of Dgraph on a real Docker that lose a volume', () => {
  let trial: DockerTrial;
  let name: string;

  beforeAll(async () => {
    const settings = (yaml: string) =>
      yaml.replace('dgraph-zero: 1', 'dgraph-zero: 3').replace('dgraph-alpha: 1', 'dgraph-alpha: 2');
    trial = await DockerTrial.init({ graph: 'dgraph', settings });
    ({ name } = readDefinition(trial.platform.installation.definitionFile));
    await trial.up();
    await save();
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  const save = () => vi.waitFor(() => trial.save(), { timeout: patienceMs });
  const stateOf = async (node: string) => (await trial.platform.services()).get(node);
  const volumeOf = (node: string) => `svc-${trial.id}-${node}`;
  const isThere = async (node: string) => (await listVolumes(trial.docker, trial.id)).has(volumeOf(node));

  /** Removes the container first, because Docker removes no volume that a container uses. */
  async function lose(node: string): Promise<void> {
    await releaseVolumes(trial.docker, trial.id);
    const removed = trial.containerOf(node).remove({ force: true });
    await removed.catch(() => undefined);
    await trial.docker.getVolume(volumeOf(node)).remove();
  }

  async function up() {
    const { code, stdout, stderr } = await trial.platform.run(['up', '--json'], { timeoutMs: upTimeoutMs });
    return { code, ...JSON.parse(stdout), stderr };
  }

  let backups = 0;
  async function backUp(): Promise<string> {
    const file = join(trial.platform.folder, `${++backups}.backup.gz`);
    await trial.platform.svc('backup', file);
    return file;
  }
  async function restore(file: string, ...flags: readonly string[]): Promise<void> {
    const { code, stderr } = await trial.platform.run(['restore', file, ...flags], { timeoutMs: restoreTimeoutMs });
    expect(code, stderr).toBe(0);
  }

  async function expectAllHealthy(): Promise<void> {
    const { state, services } = await trial.platform.svc('status');
    expect([state, services.filter(({ state }: { state: string }) => state !== 'healthy')]).toEqual(['running', []]);
    await trial.expectSaved();
    await save();
  }

  test('dgraph-zero while the platform is stopped: the others start without it, and a restore fills it', async () => {
    await trial.platform.svc('down');
    await lose('dgraph-zero');
    const { state, stderr } = await up();
    expect([state, stderr]).toEqual(['degraded', expect.stringContaining(volumeOf('dgraph-zero'))]);
    expect(await stateOf('dgraph-zero')).toMatchObject({
      state: 'lost',
      health: 'red',
      reason: expect.stringMatching(/: the volume svc-.*-dgraph-zero\. .* svc backup FILE, then svc restore FILE$/),
    });
    expect(await isThere('dgraph-zero')).toBe(false);
    await save();
    await restore(await backUp(), '--over', name);
    await expectAllHealthy();
    await trial.platform.svc('restore', '--confirm');
  });

  test('dgraph-alpha-2 while the platform runs: it is not made anew, and an older backup fills both', async () => {
    const file = await backUp();
    await lose('dgraph-alpha-2');
    expect(await stateOf('dgraph-alpha-2')).toMatchObject({ state: 'lost' });
    await vi.waitFor(() => trial.expectSaved(), { timeout: patienceMs });
    const message = expect.stringContaining(`no majority: the volume ${volumeOf('dgraph-alpha-2')}`);
    const hint = expect.stringContaining('svc restore FILE');
    expect(await up()).toMatchObject({ code: 1, error: { code: 'not_found', message, hint } });
    const { json } = await trial.platform.fails('restore', file, '--over', name);
    const [, clear = ''] = /To restore without it: .*: svc down; (docker rm .*)$/.exec(json.error.hint) ?? [];
    expect(await isThere('dgraph-alpha-2')).toBe(false);
    await trial.platform.svc('down');
    execFileSync('sh', ['-c', clear], { env: { ...process.env, DOCKER_HOST: dockerHost ?? '' } });
    await restore(file);
    expect((await up()).state).toBe('running');
    await expectAllHealthy();
  });
});
