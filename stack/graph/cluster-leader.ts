import { existsSync } from 'node:fs';
import { SvcError } from '../../services/contracts/errors.ts';
import { request } from '../client/http.ts';
import { becomesTrue } from '../machine/becomes-true.ts';
import type { Part } from '../parts/part.ts';
import { hasVote } from '../place/node-data.ts';

/** Where a coordination node tells its metrics, and the line that says that its cluster has a leader. */
export const metricsPath = '/debug/prometheus_metrics';
export const leaderMetric = 'dgraph_raft_has_leader{group="0"} 1';

/**
 * The founder of the cluster that a coordination node joins at its first start; null for every other part. The node asks the founder once and waits
 * 8 s. A founder that leads only later adds the node all the same, and from then on each waits for the vote of the other for good.
 */
export function founderOf({ name, service }: Part, parts: readonly Part[]): Part | null {
  if (service !== 'dgraph-zero') return null;
  const founder = parts.find((part) => part.service === service);
  return founder === undefined || founder.name === name ? null : founder;
}

/** Whether the coordination node with this data is a member of its cluster. Members elect the leader, so they wait for none. */
export function isMember(metaFile: string): boolean {
  return existsSync(metaFile) && hasVote(metaFile);
}

export interface Founder {
  /** Its HTTP endpoint. */
  readonly url: string;
  /** PEM that vouches for it. */
  readonly ca: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const answerTimeoutMs = 2000;

export async function waitForLeader({ url, ca, timeoutMs, signal }: Founder): Promise<void> {
  const metrics = {
    method: 'GET',
    url: new URL(metricsPath, url).href,
    ca,
    timeoutMs: answerTimeoutMs,
    signal,
  } as const;
  // Until the founder listens, nothing answers.
  const answer = () => request(metrics).catch(() => ({ body: '' }));
  const hasLeader = async () => (await answer()).body.includes(leaderMetric);
  if (!(await becomesTrue(hasLeader, { timeoutMs, pauseMs: 100, signal }))) throw withoutLeader(timeoutMs);
}

/** Follows the name of the node that would have joined. */
export function withoutLeader(timeoutMs: number): SvcError {
  return new SvcError('timeout', `its cluster had no leader within ${timeoutMs / 1000} s`, {
    hint: 'Read what the founder of the cluster wrote: svc logs dgraph-zero',
  });
}
