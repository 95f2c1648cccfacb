import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { all, blobOf, inChunks } from '../../../../services/backend/files/blobs.contract.ts';
import { openBlobsContent } from '../../../../services/backend/files/open-content.ts';
import { buckets, streams } from '../../../../services/contracts/bus/subjects.ts';
import type { BusContent } from '../../../../services/kit/bus/content.ts';
import { openBusContent } from '../../../../services/kit/bus/open-content.ts';
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
import { changeNodes, planOfOtherNodes } from '../change-nodes.ts';
import { describeInterruptedReplacement, type Replacement, readReplacement, writeReplacement } from '../replacement.ts';
import { settleReplacement } from '../settle-replacement.ts';

vi.setConfig({ testTimeout: 240_000 });

const { signal } = new AbortController();
const { env } = process;
const payloads = ['one', 'two', 'three'];
const file = Buffer.from('a file of a skill');
const { digest } = blobOf(file);
const everything = { records: payloads, sessions: ['mine'], files: [digest] };

describe.skipIf(!hasNatsServer)('on a real server, another number of nodes', () => {
  let dir: string;
  let installation: Installation;
  let told: string[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-nodes-'));
    told = [];
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** With Dgraph files of skills are on the bus too. */
  async function install(graph: Graph): Promise<void> {
    ({ installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed', graph }));
    const { definition } = readPlan(installation);
    ensureSecrets(installation, { ...definition, replicas: { ...definition.replicas, nats: 3 } });
  }

  const edit = (from: string, to: string) => editDefinition(installation, from, to);

  async function withBus<Result>(work: (content: BusContent, shown: Shown) => Promise<Result>) {
    const plan = readPlan(installation);
    const options = { plan, bus: true, graph: false, env, signal };
    const { bus: servers, stop } = await runProcessesAlone(options);
    const shown = { servers, caPath: null, seeds: busSeedsOf(plan.secrets) };
    try {
      const content = await openBusContent({ engine: 'nats', ...shown, keyMaxAgeMs: keyMaxAgeOf(plan) });
      return await work(content, shown).finally(() => content.close());
    } finally {
      await stop();
    }
  }

  const keep = () =>
    withBus(async (content, shown) => {
      await content.addRecords(streams.usage, Readable.from(payloads.map((text) => ({ payload: Buffer.from(text) }))));
      const session = { key: 'session', value: Buffer.from('mine'), expiresAt: Date.now() + 200_000 };
      await content.addEntries(buckets.sessions, Readable.from([session]));
      await using opened = await openBlobsContent({ engine: 'jetstream', ...shown });
      await opened.blobs.put(blobOf(file), inChunks(file));
    });

  const kept = () =>
    withBus(async (content, shown) => {
      const [records, entries] = [content.records(streams.usage), content.entries(buckets.sessions)];
      await using opened = await openBlobsContent({ engine: 'jetstream', ...shown });
      return {
        records: (await all(records)).map(({ payload }) => Buffer.from(payload).toString()),
        sessions: (await all(entries)).map(({ value }) => Buffer.from(value).toString()),
        files: await all(opened.blobs.list()),
      };
    });

  const planBefore = () => planOfOtherNodes(readPlan(installation), { env, signal });
  async function change(): Promise<void> {
    const from = (await planBefore()) ?? expect.fail('there is nothing to change');
    const to = readPlan(installation);
    const onProgress = (progress: object) => told.push('message' in progress ? String(progress.message) : '');
    await changeNodes({ from, to, wasRunning: false, env, signal, onProgress });
  }
  async function dieAt(...moment: readonly string[]): Promise<void> {
    const program = fileURLToPath(new URL('./change-and-die.ts', import.meta.url));
    const child = spawn(process.execPath, [program, installation.dir, ...moment], { stdio: 'ignore' });
    expect([moment, (await once(child, 'exit'))[1]]).toEqual([moment, 'SIGKILL']);
  }
  const settle = () => settleReplacement(installation, { env, onNotice: (line) => told.push(line) });
  const inData = () => readdirSync(installation.dataDir).filter((name) => /^(nats|bus|before)/.test(name));

  test('has what the ones before kept, in both directions', async () => {
    await install('dgraph');
    await keep();
    expect(await planBefore()).toBeNull();
    edit('nats: 1', 'nats: 3');
    await change();
    const counts = '3 usage records, 1 sessions, 1 files';
    expect(told).toEqual([`The bus has 3 in the place of 1 nodes, with what it kept: ${counts}.`]);
    expect([inData(), await planBefore(), readReplacement(installation)]).toEqual([['nats-cluster'], null, null]);
    expect(await kept()).toEqual(everything);
    edit('nats: 3', 'nats: 1');
    await change();
    expect(told.at(-1)).toBe(`The bus has 1 in the place of 3 nodes, with what it kept: ${counts}.`);
    expect(inData()).toEqual(['nats']);
    expect(await kept()).toEqual(everything);
    // Nothing else shall be kept then, but the files of skills.
    edit('persistentMessaging: true', 'persistentMessaging: false');
    edit('nats: 1', 'nats: 3');
    await change();
    expect(told.at(-1)).toBe('The bus has 3 in the place of 1 nodes, with what it kept: 1 files.');
    expect([inData(), await kept()]).toEqual([['nats-cluster'], { records: [], sessions: [], files: [digest] }]);
  });

  test('has what the ones before kept, whenever it was killed on its way', async () => {
    await install('sqlite');
    await keep();
    edit('nats: 1', 'nats: 3');
    for (const moment of [['keeping'], ['keeping', 'nats']]) {
      await dieAt(...moment);
      const interruption = describeInterruptedReplacement(installation);
      expect(interruption).toMatch(/^The change .* was interrupted: svc up finishes it/);
      await settle();
      expect(told.at(-1)).toMatch(/^The change of the number of NATS nodes .* was taken back: everything is as it was/);
      expect([moment, inData(), await planBefore()]).toEqual([moment, ['nats'], expect.anything()]);
    }
    const without = { ...everything, files: [] };
    await dieAt('filling');
    await settle();
    expect(told.at(-1)).toMatch(/^The change of the number of NATS nodes that began at .* and is finished now\.$/);
    expect([inData(), await planBefore(), await kept()]).toEqual([['nats-cluster'], null, without]);
    edit('nats: 3', 'nats: 1');
    await dieAt('filling', 'nats');
    // The operator wants the number before again.
    edit('nats: 1', 'nats: 3');
    await settle();
    expect([inData(), await planBefore(), await kept()]).toEqual([['nats-cluster'], null, without]);
  });

  test('is refused while a move waits, and where a version before has begun one', async () => {
    await install('dgraph');
    mkdirSync(join(installation.dataDir, 'nats'));
    edit('nats: 1', 'nats: 3');
    writeReplacement(installation, waiting);
    await expect(planBefore()).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('svc move --confirm'),
    });
    expect(inData()).toEqual(['nats']);
    mkdirSync(join(installation.dataDir, 'bus-carried'));
    await expect(settle()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('bus-carried" is of a change of nodes that another version has begun.'),
    });
  });
});

const side = { topology: 'distributed', graph: 'dgraph', engine: 'process' } as const;
const waiting: Replacement = {
  ...{ command: 'move', step: 'waiting', from: { ...side, graph: 'sqlite' }, to: side, wasRunning: false },
  ...{ startedAt: '2026-11-25T23:51:47.120Z', kept: 'data/before-move-2026-11-25T23-51-47Z', folders: [], moved: [] },
  replaced: { bus: false, graph: true, blobs: true },
  archived: { bus: false, graph: true, blobs: true },
  elsewhere: { left: null, filled: null },
};

type Shown = Pick<
  Parameters<typeof openBlobsContent>[0] & { readonly engine: 'jetstream' },
  'servers' | 'caPath' | 'seeds'
>;
