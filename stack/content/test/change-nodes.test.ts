import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBlobsContent } from '../../../services/backend/files/open-content.ts';
import { buckets, streams } from '../../../services/contracts/bus/subjects.ts';
import { parseDigest } from '../../../services/contracts/digest.ts';
import type { BusContent } from '../../../services/kit/bus/content.ts';
import { openBusContent } from '../../../services/kit/bus/open-content.ts';
import { planFor, readPlan } from '../../engines/plan-of.ts';
import { busInFolders } from '../../engines/process/bus-in-folders.ts';
import { createInstallation } from '../../operations/create-installation.ts';
import type { Plan } from '../../plan/plan.ts';
import { ensureSecrets } from '../../secrets/ensure-secrets.ts';
import { busSeedsOf } from '../../secrets/secrets.ts';
import type { Graph } from '../../settings/choices.ts';
import { hasNatsServer } from '../../test/platform.ts';
import { areOtherNodes, type BusPlaces, changeNodes } from '../change-nodes.ts';
import { keyMaxAgeOf } from '../kept-on-bus.ts';

vi.setConfig({ testTimeout: 120_000 });

const { signal } = new AbortController();
const payloads = ['one', 'two', 'three'];
const file = Buffer.from('a file of a skill');
const digest = parseDigest(createHash('sha256').update(file).digest('hex'));

describe.skipIf(!hasNatsServer)('on a real server, another number of nodes', () => {
  let dir: string;
  let alone: Plan;
  let several: Plan;
  let places: BusPlaces;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-nodes-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** With Dgraph files of skills are on the bus too. */
  async function install(graph: Graph, persistentMessaging: boolean): Promise<void> {
    const { installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed', graph });
    const { definition, ports } = readPlan(installation);
    const planOf = (nats: 1 | 3) => {
      const replicas = { ...definition.replicas, nats };
      return planFor(installation, { ...definition, bus: { ...definition.bus, persistentMessaging }, replicas }, ports);
    };
    [alone, several] = [planOf(1), planOf(3)];
    ensureSecrets(installation, several.definition);
    const planOfNodes = (definition: Plan['definition']) => planFor(installation, definition, ports);
    places = { ...busInFolders(installation, process.env), planOf: planOfNodes };
  }

  async function withBus<Result>(plan: Plan, work: (content: BusContent, shown: Shown) => Promise<Result>) {
    const { bus: servers, stop } = await places.run(plan, signal);
    const shown = { servers, caPath: null, seeds: busSeedsOf(plan.secrets) };
    try {
      const content = await openBusContent({ engine: 'nats', ...shown, keyMaxAgeMs: keyMaxAgeOf(plan) });
      return await work(content, shown).finally(() => content.close());
    } finally {
      await stop();
    }
  }

  const keep = () =>
    withBus(alone, async (content, shown) => {
      await content.addRecords(streams.usage, each(payloads.map((text) => ({ payload: Buffer.from(text) }))));
      const expiresAt = Date.now() + 200_000;
      await content.addEntries(buckets.sessions, each([{ key: 'session', value: Buffer.from('mine'), expiresAt }]));
      await using opened = await openBlobsContent({ engine: 'jetstream', ...shown });
      await opened.blobs.put({ digest, sizeBytes: file.length }, each([file]));
    });

  const kept = (plan: Plan) =>
    withBus(plan, async (content, shown) => {
      const [records, entries] = [content.records(streams.usage), content.entries(buckets.sessions)];
      await using opened = await openBlobsContent({ engine: 'jetstream', ...shown });
      return {
        records: (await all(records)).map(({ payload }) => Buffer.from(payload).toString()),
        sessions: (await all(entries)).map(({ value }) => Buffer.from(value).toString()),
        files: await all(opened.blobs.list()),
      };
    });

  /** Whoever changes is killed there. */
  function dyingAt(moment: string): BusPlaces {
    const come = (to: string) => {
      if (to === moment) throw new Error('killed');
    };
    return {
      planOf: places.planOf,
      isThere: places.isThere,
      empty: async (plan) => {
        come('empty');
        await places.empty(plan);
      },
      remove: async (plan) => {
        come('remove');
        await places.remove(plan);
      },
      run: async (plan) => {
        const count = plan.definition.replicas.nats;
        come(`run ${count}`);
        const { bus, stop } = await places.run(plan, signal);
        return { bus, stop: () => stop().then(() => come(`ran ${count}`)) };
      },
    };
  }

  const told: string[] = [];
  const change = (plan: Plan, by = places) =>
    changeNodes({ plan, places: by, signal, onNotice: (line) => told.push(line) });
  const inData = () => readdirSync(alone.installation.dataDir).filter((name) => /^(nats|bus)/.test(name));

  test('has what the ones before kept, whenever it was killed on its way, and so in both directions', async () => {
    await install('dgraph', true);
    await keep();
    expect([areOtherNodes(alone, places), areOtherNodes(several, places)]).toEqual([false, true]);
    for (const moment of ['run 1', 'ran 1', 'remove', 'empty', 'run 3', 'ran 3']) {
      await expect(change(several, dyingAt(moment)), moment).rejects.toThrow('killed');
      expect([moment, areOtherNodes(several, places)]).toEqual([moment, true]);
    }
    await change(several);
    expect(told.at(-1)).toBe(
      'The bus has 3 in the place of 1 nodes, with what it kept: 3 usage records, 1 sessions, 1 files.',
    );
    expect([inData(), areOtherNodes(several, places)]).toEqual([['nats-cluster'], false]);
    const everything = { records: payloads, sessions: ['mine'], files: [digest] };
    expect(await kept(several)).toEqual(everything);
    // Who goes back on the way finds it as it was.
    await expect(change(alone, dyingAt('run 1'))).rejects.toThrow('killed');
    expect(areOtherNodes(several, places)).toBe(true);
    await change(several);
    await change(alone);
    expect(inData()).toEqual(['nats']);
    expect(await kept(alone)).toEqual(everything);
  });

  test('has the files of skills where nothing else shall be kept', async () => {
    await install('dgraph', false);
    await keep();
    await change(several);
    expect(told.at(-1)).toBe('The bus has 3 in the place of 1 nodes, with what it kept: 1 files.');
    expect(await kept(several)).toEqual({ records: [], sessions: [], files: [digest] });
  });
});

type Shown = Pick<
  Parameters<typeof openBlobsContent>[0] & { readonly engine: 'jetstream' },
  'servers' | 'caPath' | 'seeds'
>;

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
