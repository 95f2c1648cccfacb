import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Graph } from '../../../services/backend/graph/graph.ts';
import { openGraph } from '../../../services/backend/graph/open-graph.ts';
import { newId, type UserId } from '../../../services/contracts/ids.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { type ProcessTrial, supervise } from '../../engines/process/test/trial.ts';
import { readRecord } from '../../state/platform-record.ts';
import { until } from '../../test/until.ts';
import { dgraphAddressOf } from '../dgraph-address.ts';
import { hasDgraph, healthy, openDgraphTrial } from './dgraph-trial.ts';

/** Elections take some seconds, on a machine that other programs use too. */
const patienceMs = 90_000;
vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });

const userOf = (id: UserId) => ({ id, email: `${id}@example.com`, name: 'trial', signedInAt: null, createdAt: 1 });

/** Coordination and data nodes hold their elections one after the other. Measured: 9 s. */
const takeoverMs = 30_000;
const refusedByName = { code: expect.stringMatching(/^(unavailable|timeout)$/) };

describe.skipIf(!hasDgraph)('on a real Dgraph of several nodes', () => {
  let trial: Awaited<ReturnType<typeof openDgraphTrial>>;
  let supervisor: ReturnType<typeof supervise>;
  let graph: Graph;
  const first = newId('user');

  const start = async () => {
    supervisor = supervise(trial);
    await Promise.race([healthy(trial, patienceMs), supervisor.run]);
    graph = await openGraph(dgraphAddressOf(readPlan(trial.installation)));
  };
  const stop = async () => {
    await graph.close();
    await supervisor.stop();
  };
  const pidOf = (name: string) => supervisor.part(name).process?.pid ?? 0;
  const create = (id = newId('user')) => graph.write((transaction) => transaction.create('user', userOf(id)));
  const isThere = async (id: string) => (await graph.find('user', id as UserId, null)) !== null;

  beforeAll(async () => {
    trial = await openDgraphTrial(1, 1);
    await start();
    await create(first);
    await stop();
    trial.edit('dgraph-zero: 1', 'dgraph-zero: 3');
    trial.edit('dgraph-alpha: 1', 'dgraph-alpha: 2');
    await start();
  }, 2 * patienceMs);
  afterAll(async () => {
    await stop();
    await trial[Symbol.asyncDispose]();
  });

  test('the data of one node reaches all added nodes', async () => {
    expect(await isThere(first)).toBe(true);
    expect(existsSync(join(trial.installation.dataDir, 'dgraph/alpha-2/p'))).toBe(true);
  });

  /**
   * Kills the node during writes. Each write is acknowledged or refused by name, writes soon succeed again, and no
   * acknowledged write is lost.
   */
  async function killUnderLoad(name: string): Promise<void> {
    const [acknowledged, refused]: [string[], unknown[]] = [[], []];
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        const id = newId('user');
        await create(id).then(
          () => acknowledged.push(id),
          (error: unknown) => refused.push(error),
        );
      }
    };
    const writing = write();
    await until(() => acknowledged.length > 5, patienceMs);
    process.kill(pidOf(name), 'SIGKILL');
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 5, takeoverMs);
    await healthy(trial, patienceMs);
    isOver = true;
    await writing;
    for (const error of refused) expect(error).toMatchObject(refusedByName);
    for (const id of acknowledged) expect(await isThere(id), id).toBe(true);
  }

  test.each(['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'])(
    '%s, killed, is back, and nothing that was acknowledged is lost',
    killUnderLoad,
  );

  test.each(['dgraph-alpha', 'dgraph-alpha-2'])(
    'of two data nodes %s is silent: reads work from the other, and changes are refused by name',
    async (name) => {
      const id = newId('user');
      await create(id);
      // Until a further change, the other node does not know that both nodes have the last change.
      await create();
      const pid = pidOf(name);
      process.kill(pid, 'SIGSTOP');
      try {
        for (let i = 0; i < 5; i++) expect(await isThere(id)).toBe(true);
        await expect(create()).rejects.toMatchObject(refusedByName);
        expect(await isThere(first)).toBe(true);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await vi.waitFor(() => create(), { timeout: takeoverMs });
    },
  );

  test('with a third data node changes work without one of them, and each may die', async () => {
    await stop();
    trial.edit('dgraph-alpha: 2', 'dgraph-alpha: 3');
    await start();
    expect(await isThere(first)).toBe(true);
    const pid = pidOf('dgraph-alpha');
    process.kill(pid, 'SIGSTOP');
    try {
      await vi.waitFor(() => create(), { timeout: takeoverMs });
      await vi.waitFor(async () => expect(await isThere(first)).toBe(true), { timeout: takeoverMs });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await healthy(trial, patienceMs);
    for (const name of ['dgraph-alpha', 'dgraph-alpha-2', 'dgraph-alpha-3']) await killUnderLoad(name);
  });
});

/** A joining node gives up after 8 s. */
const longerThanJoinMs = 9000;
/** After this time the founder listens, but has not held its election. */
const beforeElectionMs = 1500;

test.skipIf(!hasDgraph)('coordination nodes join a founder that is slow to lead', async () => {
  await using trial = await openDgraphTrial(3, 1);
  await using supervisor = supervise(trial);
  await until(() => pidOfFounder(trial) > 0, patienceMs);
  const founder = pidOfFounder(trial);
  await pause(beforeElectionMs);
  process.kill(founder, 'SIGSTOP');
  await pause(longerThanJoinMs);
  process.kill(founder, 'SIGCONT');
  await Promise.race([healthy(trial, patienceMs), supervisor.run]);
  expect(supervisor.states.filter((state) => state.endsWith('broke'))).toEqual([]);
});

function pidOfFounder({ installation }: Pick<ProcessTrial, 'installation'>): number {
  return readRecord(installation)?.services.find(({ name }) => name === 'dgraph-zero')?.process?.pid ?? 0;
}
