import type { Installation } from './installation.ts';
import { leftProcesses } from './left-processes.ts';
import { isLockHeld, lockHolder } from './lock.ts';
import { isSameFolder, isWrittenHere } from './place-record.ts';
import { type PlatformRecord, readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity, workingDirOf } from './process-identity.ts';

export interface RunningPlatform extends ProcessIdentity {
  /** Its record. Null before it is written, and after a loss of state/. */
  readonly record: PlatformRecord | null;
  /** It was killed, and its child processes still run. */
  readonly isAbandoned: boolean;
}

/** The platform that serves this folder, or null; a starting one and the rest of a killed one count. */
export function findRunning(installation: Installation): RunningPlatform | null {
  const record = readRecord(installation);
  const known = record === null ? null : { pid: record.pid, startTime: record.startTime, record };
  if (known !== null && isAlive(known) && serves(installation, known)) return { ...known, isAbandoned: false };
  const holder = lockHolder(installation, 'platform');
  // The holder's note may be copied with data/, the lock itself cannot.
  const isHeld = holder !== null && (holder.pid === process.pid || isLockHeld(installation, 'platform'));
  if (isHeld) return { ...holder, record: null, isAbandoned: false };
  if (known === null || isAlive(known)) return null;
  const left = leftProcesses(known.record).filter(({ process }) => serves(installation, process, true));
  return left.length > 0 ? { ...known, isAbandoned: true } : null;
}

/**
 * Whether a recorded process works on this folder. Records of a copied folder name the original's process, but the lock
 * in data/ is not held in a copy. `isPart`: it holds no lock, so its record is believed when the system does not name
 * its folder.
 */
export function serves(installation: Installation, { pid }: ProcessIdentity, isPart = false): boolean {
  if (pid === process.pid || isWrittenHere(installation) || isLockHeld(installation, 'platform')) return true;
  const folder = workingDirOf(pid);
  return folder === null ? isPart : isSameFolder(folder, installation.dir);
}
