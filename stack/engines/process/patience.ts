import { drainMs } from '../../../services/contracts/drain.ts';
import type { FolderPatience } from '../../place/watch-data.ts';

export interface Patience {
  /** From the start of a part until it is ready. Default: the limit of the part. */
  readonly readyMs?: number;
  /** From the request to end until the process is killed: while the other parts stay, and while all parts end. */
  readonly drainMs: number;
  readonly hurryMs: number;
  /** For a part that should stay and does not answer well. */
  readonly stumbleMs: number;
  /** The supervisor asks each part this often. It restarts a part after this many questions without an answer. */
  readonly lookMs: number;
  readonly silencesMax: number;
  readonly restarts: RestartPolicy;
  readonly folder: FolderPatience;
}

export const usualPatience: Patience = {
  // A service has a deadline of its own. This one is for a service that misses it.
  drainMs: drainMs + 2000,
  // All parts end together, so only calls that are almost done are worth waiting for.
  hurryMs: 3000,
  stumbleMs: 5_000,
  // Half a minute, because a busy or sleeping machine is no reason for a restart.
  lookMs: 5_000,
  silencesMax: 6,
  // The last attempt is half a minute after the first. A machine short of memory may have recovered by then.
  restarts: { stableMs: 10_000, triesMax: 8, delayFirstMs: 250, delayMaxMs: 10_000 },
  folder: { lookMs: 5_000, goneMaxMs: 30_000 },
};

export interface RestartPolicy {
  /** A run of this length counts as stable. A later end is a new problem. */
  readonly stableMs: number;
  /** Failed starts in a row before the supervisor gives up. */
  readonly triesMax: number;
  readonly delayFirstMs: number;
  readonly delayMaxMs: number;
}

/** The delay before a restart, ever longer after the first short run; null: the supervisor gives up. */
export function restartDelay(shortRuns: number, { triesMax, delayFirstMs, delayMaxMs }: RestartPolicy): number | null {
  if (shortRuns > triesMax) return null;
  return shortRuns <= 1 ? 0 : Math.min(delayFirstMs * 2 ** (shortRuns - 2), delayMaxMs);
}

/** The short runs in a row after a run of this length. */
export function shortRunsAfter(livedMs: number, before: number, { stableMs }: RestartPolicy): number {
  return livedMs >= stableMs ? 0 : before + 1;
}
