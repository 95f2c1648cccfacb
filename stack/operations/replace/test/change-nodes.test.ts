import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keyMaxAgeOf } from '../../../content/place.ts';
import { readPlan } from '../../../engines/plan-of.ts';
import { runProcessesAlone } from '../../../engines/process/run-alone.ts';
import { ensureSecrets } from '../../../secrets/ensure-folders.ts';
import { busSeedsOf } from '../../../secrets/secrets.ts';
import type { Graph } from '../../../settings/choices.ts';
import type { Installation } from '../../../state/installation.ts';
import { editDefinition } from '../../../test/edit-definition.ts';
import { hasNatsServer } from '../../../test/platform.ts';
import { createInstallation } from '../../create-installation.ts';
import { type ContentStores, fill, readKept, settleMove } from '../../move/test/trial.ts';
import { distributed, onDgraph } from '../../test/sides.ts';
import { dieAt } from '../../test/trial.ts';
import { changeNodes, planOfOtherNodes } from '../change-nodes.ts';
import { describeInterruptedReplacement, type Replacement, readReplacement, writeReplacement } from '../replacement.ts';

vi.setConfig({ testTimeout: 240_000 });

const { signal } = new AbortController();
const { env } = process;

describe.skipIf(!hasNatsServer)('on a real server, another number of nodes', () => {
  let dir: string;
  let installation: Installation;
  let notices: string[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-nodes-'));
    notices = [];
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** Returns the content of the bus of a new installation. With Dgraph, the files of skills are on the bus too. */
  async function install(graph: Graph) {
    ({ installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed', graph }));
    const { definition } = readPlan(installation);
    ensureSecrets(installation, { ...definition, replicas: { ...definition.replicas, nats: 3 } });
    return await withBus(async (bus) => {
      await fill(bus);
      return await readKept(bus);
    });
  }

  const edit = (from: string, to: string) => editDefinition(installation, from, to);

  async function withBus<Result>(work: (bus: ContentStores) => Promise<Result>): Promise<Result> {
    const plan = readPlan(installation);
    const { bus: servers, stop } = await runProcessesAlone({ plan, bus: true, graph: false, env, signal });
    const connection = { servers, caPath: null, seeds: busSeedsOf(plan.secrets) };
    const bus = { engine: 'nats', ...connection, keyMaxAgeMs: keyMaxAgeOf(plan) } as const;
    return await work({ bus, blobs: { engine: 'jetstream', ...connection } }).finally(stop);
  }

  const kept = () => withBus(readKept);
  const planBefore = () => planOfOtherNodes(readPlan(installation), { env, signal });
  async function change(): Promise<void> {
    const from = (await planBefore()) ?? expect.fail('there is nothing to change');
    const to = readPlan(installation);
    const onProgress = (progress: object) => notices.push('message' in progress ? String(progress.message) : '');
    await changeNodes({ from, to, wasRunning: false, env, signal, onProgress });
  }
  const dieOnTheWay = (...moment: readonly string[]) => dieAt(installation, moment, { verb: 'up' });
  const settle = async () => void notices.push(...(await settleMove(installation)));
  const inData = () => readdirSync(installation.dataDir).filter((name) => /^(nats|bus|before)/.test(name));

  test('has what the ones before kept, in both directions', async () => {
    const before = await install('dgraph');
    expect(await planBefore()).toBeNull();
    edit('nats: 1', 'nats: 3');
    await change();
    const counts = '3 usage records, 2 sessions, 1 files';
    expect(notices).toEqual([`The bus has 3 nodes in place of 1, with its data: ${counts}.`]);
    expect([inData(), await planBefore(), readReplacement(installation)]).toEqual([['nats-cluster'], null, null]);
    expect(await kept()).toEqual(before);
    // Without persistent messaging the bus keeps only the files of skills.
    edit('persistentMessaging: true', 'persistentMessaging: false');
    edit('nats: 3', 'nats: 1');
    await change();
    expect(notices.at(-1)).toBe('The bus has 1 node in place of 3, with its data: 1 files.');
    expect([inData(), await kept()]).toEqual([['nats'], { ...before, usage: [], sessions: [] }]);
  });

  test('has what the ones before kept, whenever it was killed on its way', async () => {
    const { usage, sessions } = await install('sqlite');
    edit('nats: 1', 'nats: 3');
    for (const moment of [['keeping'], ['keeping', 'nats']]) {
      await dieOnTheWay(...moment);
      const interruption = describeInterruptedReplacement(installation);
      expect(interruption).toMatch(/^The change .* was interrupted: svc up finishes it/);
      await settle();
      expect(notices.at(-1)).toMatch(/^The change of the number of NATS nodes .* was taken back: nothing has changed/);
      expect([moment, inData(), await planBefore()]).toEqual([moment, ['nats'], expect.anything()]);
    }
    const onThree = [['nats-cluster'], null, expect.objectContaining({ usage, sessions })];
    await dieOnTheWay('filling');
    await settle();
    expect(notices.at(-1)).toMatch(/^The change of the number of NATS nodes that began at .* and is finished now\.$/);
    expect([inData(), await planBefore(), await kept()]).toEqual(onThree);
    edit('nats: 3', 'nats: 1');
    await dieOnTheWay('filling', 'nats');
    // The operator sets the previous number again.
    edit('nats: 1', 'nats: 3');
    await settle();
    expect([inData(), await planBefore(), await kept()]).toEqual(onThree);
  });

  test('is refused while a move waits', async () => {
    await install('dgraph');
    edit('nats: 1', 'nats: 3');
    writeReplacement(installation, waiting);
    await expect(planBefore()).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('svc move --confirm'),
    });
    expect(inData()).toEqual(['nats']);
  });
});

const waiting: Replacement = {
  ...{ command: 'move', step: 'waiting', from: distributed, to: onDgraph, wasRunning: false },
  ...{ startedAt: '2026-11-25T23:51:47.120Z', kept: 'data/before-move-2026-11-25T23-51-47Z', folders: [], moved: [] },
  replaced: { bus: false, graph: true, blobs: true },
  archived: { bus: false, graph: true, blobs: true },
  elsewhere: { left: null, filled: null },
};
