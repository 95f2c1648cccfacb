import { statSync, utimesSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { recordFile } from './platform-record.ts';

/** How often a supervisor touches its record, so that commands see that it responds. */
export const beatMs = 500;
/** Longer than a busy machine delays a beat. */
const silenceMaxMs = 2_000;
const lookIntervalMs = 50;

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
  const deadline = performance.now() + 2 * beatMs;
  while (Date.now() - last > silenceMaxMs && lastBeat(installation) === last) {
    if (performance.now() >= deadline) return true;
    await pause(lookIntervalMs, undefined, { signal });
  }
  return false;
}

function lastBeat(installation: Installation): number {
  return statSync(recordFile(installation), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
