import type { Installation } from './installation.ts';
import { leftProcesses } from './left-processes.ts';
import { isLockHeld, lockHolder } from './lock.ts';
import { isSameFolder, isWrittenHere } from './place-record.ts';
import { type PlatformRecord, readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity, workingDirOf } from './process-identity.ts';

/** The process of an installation's platform. */
export interface RunningPlatform extends ProcessIdentity {
  /** Its record. Null before it is written, and after a loss of state/. */
  readonly record: PlatformRecord | null;
  /** It was killed, and its child processes still run. */
  readonly isAbandoned: boolean;
}

/**
 * The platform that runs in this folder, or null; a starting platform and the rest of a killed one count. A process
 * counts only if it serves this folder.
 */
export function findRunning(installation: Installation): RunningPlatform | null {
  const record = readRecord(installation);
  const known = record === null ? null : { pid: record.pid, startTime: record.startTime, record };
  if (known !== null && isAlive(known) && serves(installation, known)) return { ...known, isAbandoned: false };
  const holder = lockHolder(installation, 'platform');
  // The holder's note may be copied with data/, the lock itself cannot.
  const isHeld = holder !== null && (holder.pid === process.pid || isLockHeld(installation, 'platform'));
  if (isHeld) return { ...holder, record: null, isAbandoned: false };
  if (known === null || isAlive(known)) return null;
  const left = leftProcesses(known.record).filter(({ process }) => isPartOf(installation, process));
  return left.length > 0 ? { ...known, isAbandoned: true } : null;
}

/**
 * Whether a recorded process of a platform works on this folder. Records of a copied folder name the original's
 * process, but the lock in data/ is not held in a copy.
 */
export function serves(installation: Installation, { pid }: ProcessIdentity): boolean {
  return isOwn(installation, pid) || worksIn(installation, pid) === true;
}

/**
 * The same for a process of one part, which holds no lock. When the system does not name its folder, the record is
 * believed.
 */
export function isPartOf(installation: Installation, { pid }: ProcessIdentity): boolean {
  return isOwn(installation, pid) || worksIn(installation, pid) !== false;
}

function isOwn(installation: Installation, pid: number): boolean {
  return pid === process.pid || isWrittenHere(installation) || isLockHeld(installation, 'platform');
}

/** Null when the system does not say. */
function worksIn({ dir }: Installation, pid: number): boolean | null {
  const folder = workingDirOf(pid);
  return folder === null ? null : isSameFolder(folder, dir);
}
