import type { Installation } from './installation.ts';
import { isLockHeld } from './lock.ts';
import { isSameFolder, isWrittenHere } from './place-record.ts';
import { type ProcessIdentity, workingDirOf } from './process-identity.ts';

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
