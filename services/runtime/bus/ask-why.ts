import { setTimeout as pause } from 'node:timers/promises';
import { type SvcError, toSvcError } from '../../contracts/errors.ts';
import { type OpenBusOptions, openBus } from '../../kit/bus/open-bus.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';

export interface AskWhyOptions {
  readonly open: OpenBusOptions;
  /** Aborts when the connection is back, or nobody wants to know any more. */
  readonly signal: AbortSignal;
  readonly onProblem: (problem: SvcError) => void;
}

/** The connection comes back by itself within a moment, where all that happened is that it broke. */
const retry: Backoff = { firstMs: 400, maxMs: 15_000 };

/**
 * Finds out why a lost connection does not come back. A bus only tries again, whatever refuses it; whoever comes anew, as another process of
 * the same runtime, is told why not: that the key was revoked, or that the bus is away.
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
