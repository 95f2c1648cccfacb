import { drainMs } from '../../../services/contracts/drain.ts';
import type { FolderPatience } from '../../place/watch-data.ts';
import type { RestartPolicy } from './restart-policy.ts';

/** How long a platform bears with its parts. */
export interface Patience {
  /** From the start of a part until it is ready, instead of the limit of the part. */
  readonly readyMs?: number;
  /** From the word to end until it is told to hurry, which ends what is under way: where the rest runs on, and where all of it ends. */
  readonly drainMs: number;
  readonly hurryMs: number;
  /** For a part that shall run on as it is and stumbles. */
  readonly stumbleMs: number;
  /** A part is looked at this often and, having been silent this many times in a row, is ended and started again. */
  readonly lookMs: number;
  readonly silencesMax: number;
  readonly restarts: RestartPolicy;
  /** With its own folder. */
  readonly folder: FolderPatience;
}

export const usualPatience: Patience = {
  // A service keeps to its own time; only one that does not is hurried.
  drainMs: drainMs + 2000,
  // Nobody goes on with what is under way, so only what is nearly done is worth waiting for.
  hurryMs: 3000,
  stumbleMs: 5_000,
  // Half a minute: a machine that has other things to do is no reason, and neither is one that slept.
  lookMs: 5_000,
  silencesMax: 6,
  // The last try is half a minute after the first: nobody mends anything meanwhile, and a machine short of memory may have recovered.
  restarts: { stableMs: 10_000, triesMax: 8, delayFirstMs: 250, delayMaxMs: 10_000 },
  folder: { lookMs: 5_000, goneMaxMs: 30_000 },
};
