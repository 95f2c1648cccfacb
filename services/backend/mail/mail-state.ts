import type { Graph, WithGraph } from '../graph/graph.ts';

/**
 * The states of a mail. `waiting`: until `dueAt`. `sending`: a backend tries it. `sent`, `failed`: not accepted, and
 * given up. `unsure`: it may have been sent, so it is not repeated. `withdrawn`: its link ended while it waited.
 */
export type MailState = 'waiting' | 'sending' | 'sent' | 'failed' | 'unsure' | 'withdrawn';

/** The states of mail that is still to be sent. */
export const mailWaiting: readonly string[] = ['waiting', 'sending'] satisfies MailState[];

/** For operators. Mail that failed counts for some days. */
export interface MailSummary {
  readonly waiting: number;
  readonly failed: number;
  readonly unsure: number;
  /** When the oldest waiting mail was queued. */
  readonly oldestAt: number | null;
  /** Of the oldest waiting mail, or else of the last one that failed. */
  readonly lastError: string | null;
}

export async function summariseMail({ graph }: WithGraph): Promise<MailSummary> {
  const every = { type: 'mail', anchor: null, limit: 1 } as const;
  const inState = (...states: readonly string[]) => ({ ...every, where: [{ field: 'state', in: states }] }) as const;
  const [waiting, failed, unsure, oldest, lost] = await Promise.all([
    graph.count(inState(...mailWaiting)),
    graph.count(inState('failed')),
    graph.count(inState('unsure')),
    graph.select(inState(...mailWaiting)),
    graph.select({ ...inState('failed', 'unsure'), descending: true }),
  ]);
  const [first] = oldest.nodes;
  const lastError = first?.lastError ?? lost.nodes[0]?.lastError ?? null;
  return { waiting, failed, unsure, oldestAt: first?.createdAt ?? null, lastError };
}

const dayMs = 24 * 60 * 60_000;
/** How long failed mail is reported. */
const reportedMs = 3 * dayMs;
/** Sent and withdrawn mail counts for its address. */
const countedMs = 60 * 60_000;
const sliceMax = 100;

/** Removes the records of mail that is no longer to be sent. Several backends may do so concurrently. */
export async function forgetMail(graph: Graph, now: number, signal: AbortSignal): Promise<void> {
  await forget(graph, { states: ['sent', 'withdrawn'], before: now - countedMs, signal });
  await forget(graph, { states: ['failed', 'unsure'], before: now - reportedMs, signal });
}

interface Forgotten {
  readonly states: readonly MailState[];
  readonly before: number;
  readonly signal: AbortSignal;
}

/** Ids are ordered by time of creation, so old records come first. */
async function forget(graph: Graph, { states, before, signal }: Forgotten): Promise<void> {
  for (let isMore = true; isMore && !signal.aborted; ) {
    const { nodes } = await graph.select({
      ...{ type: 'mail', anchor: null, limit: sliceMax },
      where: [{ field: 'state', in: states }],
    });
    const old = nodes.filter(({ createdAt }) => createdAt < before);
    isMore = old.length === sliceMax;
    if (old.length === 0) return;
    await graph.write(async (transaction) => {
      for (const { id } of old) await transaction.remove('mail', id, null);
    });
  }
}
