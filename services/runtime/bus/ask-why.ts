import { setTimeout as pause } from 'node:timers/promises';
import { type SvcError, toSvcError } from '../../contracts/errors.ts';
import { type OpenBusOptions, openBus } from '../../kit/bus/open-bus.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';

export interface AskWhyOptions {
  readonly open: OpenBusOptions;
  /** Aborts when the connection is back, or the answer is no longer needed. */
  readonly signal: AbortSignal;
  readonly onProblem: (problem: SvcError) => void;
}

/** A connection that only broke returns within a moment. */
const retry: Backoff = { firstMs: 400, maxMs: 15_000 };

/**
 * Finds out why a lost connection does not return. The reconnecting client only retries. A second connection, as a new
 * process of the same runtime, gets the reason: a revoked key, or an unreachable bus.
 */
export async function askWhy({ open, signal, onProblem }: AskWhyOptions): Promise<void> {
  for (let tries = 1; ; tries++) {
    await pause(backoffMs(retry, tries, Math.random()), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      const bus = await openBus(open);
      await bus.close();
    } catch (thrown) {
      if (!signal.aborted) onProblem(toSvcError(thrown));
    }
  }
}
