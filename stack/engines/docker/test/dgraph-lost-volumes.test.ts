import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readDefinition } from '../../../settings/check.ts';
import { readContainers, writeContainers } from '../../../state/containers-record.ts';
import { listVolumes, releaseVolumes } from '../volumes.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

/** Elections of Dgraph, and nodes that join late. */
const patienceMs = 90_000;
const upTimeoutMs = 300_000;

describe.skipIf(!(await haveDgraphImage(dockerHost)))('clusters of Dgraph on a real Docker that lose a volume', () => {
  let trial: DockerTrial;
  let name: string;
  const saved: string[] = [];

  beforeAll(async () => {
    const settings = (yaml: string) =>
      yaml.replace('dgraph-zero: 1', 'dgraph-zero: 3').replace('dgraph-alpha: 1', 'dgraph-alpha: 2');
    trial = await DockerTrial.init({ graph: 'dgraph', settings });
    ({ name } = readDefinition(trial.platform.installation.definitionFile));
    await trial.up();
    await vi.waitFor(save, { timeout: patienceMs });
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  let tried = 0;
  async function save(): Promise<void> {
    saved.push(await trial.platform.addRole(`role ${++tried}`, []));
  }
  async function expectThere(ids: readonly string[]): Promise<void> {
    const { roles } = await trial.platform.svc('role', 'list');
    expect(roles.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([...ids]));
  }
  const expectAllThere = () => expectThere(saved);
  const stateOf = async (node: string) =>
    (await trial.platform.svc('status')).services.find((service: { name: string }) => service.name === node);
  const volumeOf = (node: string) => `svc-${trial.id}-${node}`;
  const isThere = async (node: string) => (await listVolumes(trial.docker, trial.id)).has(volumeOf(node));

  /** Docker removes no volume that a container uses. */
  async function lose(node: string): Promise<void> {
    await releaseVolumes(trial.docker, trial.id);
    await trial
      .containerOf(node)
      .remove({ force: true })
      .catch(() => undefined);
    await trial.docker.getVolume(volumeOf(node)).remove();
  }

  async function up(...flags: readonly string[]) {
    const { code, stdout, stderr } = await trial.platform.run(['up', '--json', ...flags], { timeoutMs: upTimeoutMs });
    return { code, ...JSON.parse(stdout), stderr };
  }
  const startEmpty = () => up('--start-empty', '--confirm', name);

  async function replace(): Promise<void> {
    const { code, state, services, stderr } = await startEmpty();
    expect([code, state], stderr).toEqual([0, 'running']);
    expect(services.every(({ state }: { state: string }) => state === 'healthy')).toBe(true);
    await expectAllThere();
    await vi.waitFor(save, { timeout: patienceMs });
  }

  async function expectRefused(node: string): Promise<void> {
    const { code, error } = await up();
    expect([code, error]).toEqual([
      1,
      expect.objectContaining({
        code: 'not_found',
        message: `Data of this installation is missing: the volume ${volumeOf(node)}.`,
        hint: expect.stringContaining('svc up --start-empty'),
      }),
    ]);
  }

  test('dgraph-alpha-2 while the platform runs: it is shown as lost, not made anew, and replaced', async () => {
    await lose('dgraph-alpha-2');
    expect(await stateOf('dgraph-alpha-2')).toMatchObject({
      state: 'lost',
      health: 'red',
      reason: expect.stringMatching(/^Its volume svc-.*-dgraph-alpha-2 is missing, .* svc up --start-empty$/),
    });
    await expectRefused('dgraph-alpha-2');
    expect(await isThere('dgraph-alpha-2')).toBe(false);
    await replace();
  });

  test('dgraph-zero while the platform is stopped: the others start without it, and it is replaced', async () => {
    await trial.platform.svc('down');
    await lose('dgraph-zero');
    const refused = await startEmpty();
    expect(refused.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('svc status does not show dgraph-zero as lost'),
    });
    const { state, stderr } = await up();
    expect([state, stderr]).toEqual(['degraded', expect.stringContaining(volumeOf('dgraph-zero'))]);
    expect(await stateOf('dgraph-zero')).toMatchObject({ state: 'lost' });
    expect(await isThere('dgraph-zero')).toBe(false);
    await vi.waitFor(save, { timeout: patienceMs });
    await replace();
  });

  test('dgraph-alpha with a part of a copy, left by somebody who was killed: it is replaced', async () => {
    await trial.platform.svc('down');
    const { installation } = trial.platform;
    const record = readContainers(installation);
    if (record === null) throw new Error('there is no record');
    writeContainers(installation, { ...record, filling: [volumeOf('dgraph-alpha')] });
    await expectRefused('dgraph-alpha');
    await replace();
  });

  test('what was copied is read alone, where the node that it was copied from is away', async () => {
    // The node brings back what it acknowledged just before.
    const before = saved.slice(0, -1);
    await trial.containerOf('dgraph-alpha-2').pause();
    try {
      await vi.waitFor(() => expectThere(before), { timeout: patienceMs });
    } finally {
      await trial.containerOf('dgraph-alpha-2').unpause();
    }
    await vi.waitFor(expectAllThere, { timeout: patienceMs });
  });

  test('too many are refused, and what is left stays', async () => {
    await trial.platform.svc('down');
    for (const node of ['dgraph-zero', 'dgraph-zero-2']) await lose(node);
    for (const { error } of [await up(), await startEmpty()]) {
      expect(error).toMatchObject({
        code: 'not_found',
        hint: expect.stringContaining('Restore the volumes of Dgraph from a backup'),
      });
    }
    expect(await isThere('dgraph-zero-3')).toBe(true);
  });
});
