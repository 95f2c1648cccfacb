import type { Installation } from './installation.ts';
import { leftProcesses } from './left-processes.ts';
import { isLockHeld, lockHolder } from './lock.ts';
import { type PlatformRecord, readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { isPartOf, serves } from './serves.ts';

/** The process that holds the platform of an installation. */
export interface RunningPlatform extends ProcessIdentity {
  /** What it runs. Null where it has not written that yet, and where state/ was lost since. */
  readonly record: PlatformRecord | null;
  /** It was killed, and processes that it had started go on without it. */
  readonly isAbandoned: boolean;
}

/**
 * The platform that runs in this folder, or null; a platform that starts and the rest of a killed one count. A process counts only if it
 * serves this very folder.
 */
export function findRunning(installation: Installation): RunningPlatform | null {
  const record = readRecord(installation);
  const known = record === null ? null : { pid: record.pid, startTime: record.startTime, record };
  if (known !== null && isAlive(known) && serves(installation, known)) return { ...known, isAbandoned: false };
  const holder = lockHolder(installation, 'platform');
  if (holder !== null && isHolder(installation, holder)) return { ...holder, record: null, isAbandoned: false };
  if (known === null || isAlive(known)) return null;
  const left = leftProcesses(known.record).filter(({ process }) => isPartOf(installation, process));
  return left.length > 0 ? { ...known, isAbandoned: true } : null;
}

/** The note of the holder may be copied with data/, the lock itself cannot. */
function isHolder(installation: Installation, { pid }: ProcessIdentity): boolean {
  return pid === process.pid || isLockHeld(installation, 'platform');
}
