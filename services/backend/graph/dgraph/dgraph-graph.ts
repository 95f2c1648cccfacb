import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../contracts/errors.ts';
import type { Graph, Transaction } from '../graph.ts';
import { closedError, WriteQueue } from '../write-queue.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { Aborted, Taken } from './cluster-errors.ts';
import { type OpenTransaction, openTransaction } from './dgraph-transaction.ts';
import { migrate } from './migrate.ts';
import { readGraph } from './read-graph.ts';
import { Reads } from './reads.ts';
import { storedTypes } from './storage.ts';

/** Deadline of one transaction's work, which reads and writes the graph and waits for nothing else. */
const workMs = 10_000;
/** How long a transaction may wait in the queue, how long it is retried after conflicts, and how many may wait. */
const waitMs = 30_000;
const waitingMax = 1000;
/** Concurrent transactions of one backend. More would conflict, because most raise the revision of their workspace. */
const atOnce = 8;
/** A retry after a conflict waits a random part of this, so that the same transactions do not conflict again. */
const pauseMaxMs = 20;

export async function openDgraphGraph(options: ClusterOptions): Promise<Graph> {
  const cluster = new Cluster(options);
  const writes = new WriteQueue({ waitMs, waitingMax, atOnce });
  let closing: Promise<void> | null = null;
  const mustBeOpen = () => {
    if (closing !== null) throw closedError();
  };
  try {
    await migrate(cluster, storedTypes());
  } catch (thrown) {
    cluster.close();
    throw thrown;
  }
  const now = new Reads(async (dql, blocks) => {
    mustBeOpen();
    return cluster.ask(dql, blocks, null);
  });

  return {
    ...readGraph(now),

    write: (work) => writes.run(() => untilStored(cluster, work)),

    async ready() {
      mustBeOpen();
      await now.count({
        ...{ type: 'setting', workspace: null, conditions: [], words: [], orderBy: 'id' },
        ...{ nullable: false, descending: false, limit: 1, after: null },
      });
    },

    close() {
      closing ??= writes.close().then(() => cluster.close());
      return closing;
    },
  };
}

/** Runs the work again after each conflict, until it is stored. */
async function untilStored<Result>(
  cluster: Cluster,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  let careful = false;
  for (const until = performance.now() + waitMs; ; ) {
    const opened = openTransaction({ ask: (moment) => (dql, blocks) => cluster.ask(dql, blocks, moment), careful });
    try {
      const result = await timed(opened, work).catch(async (thrown: unknown) => {
        // The work may have failed because of a taken value that was not looked up.
        if (!careful && (await opened.isTaken())) throw new Taken('', { cause: thrown });
        throw thrown;
      });
      const steps = opened.steps();
      if (steps.length > 0) await cluster.commit(opened.moment, steps);
      return result;
    } catch (thrown) {
      if (thrown instanceof Taken && !careful) careful = true;
      else if (!(thrown instanceof Aborted)) throw thrown;
      else if (performance.now() > until) {
        throw new SvcError(
          'unavailable',
          'The change was not saved: it conflicted with other changes again and again. Try again.',
        );
      } else await delay(Math.random() * pauseMaxMs);
    } finally {
      opened.end();
    }
  }
}

/** After the deadline the transaction is closed, and work that continues fails. */
async function timed<Result>(
  { transaction }: OpenTransaction,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new SvcError('timeout', `The change took longer than ${workMs / 1000} s and was not saved.`));
  }, workMs);
  try {
    return await Promise.race([work(transaction), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
