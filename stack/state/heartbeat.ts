import { statSync, utimesSync } from 'node:fs';
import { becomesTrue } from '../machine/becomes-true.ts';
import type { Installation } from './installation.ts';
import { recordFile } from './platform-record.ts';

/** How often a supervisor touches its record, so that commands see that it responds. */
export const beatMs = 500;
/** Longer than a busy machine delays a beat. */
const silenceMaxMs = 2_000;

export function beat(installation: Installation): void {
  const now = new Date();
  try {
    utimesSync(recordFile(installation), now, now);
  } catch {
    // A running platform continues without state/.
  }
}

/** Whether the supervisor no longer touches its record. A machine that has just woken up gets time for one more beat. */
export async function isSilent(installation: Installation, signal?: AbortSignal): Promise<boolean> {
  const last = lastBeat(installation);
  const isHeard = () => Date.now() - last <= silenceMaxMs || lastBeat(installation) !== last;
  return !(await becomesTrue(isHeard, { timeoutMs: 2 * beatMs, pauseMs: 50, signal }));
}

function lastBeat(installation: Installation): number {
  return statSync(recordFile(installation), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
