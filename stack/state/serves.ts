import type { Installation } from './installation.ts';
import { isLockHeld } from './lock.ts';
import { isSameFolder, isWrittenHere } from './place-record.ts';
import { type ProcessIdentity, workingDirOf } from './process-identity.ts';

/**
 * Whether the platform's process that a record names works on this very folder. The records of a copied folder name the original's process.
 * The lock of a platform lies in its own data/ and no copy of it is held.
 */
export function serves(installation: Installation, { pid }: ProcessIdentity): boolean {
  return isOwn(installation, pid) || worksIn(installation, pid) === true;
}

/** The same of a process that is one part and holds no lock. Where the system does not tell its folder, the record is believed. */
export function isPartOf(installation: Installation, { pid }: ProcessIdentity): boolean {
  return isOwn(installation, pid) || worksIn(installation, pid) !== false;
}

function isOwn(installation: Installation, pid: number): boolean {
  return pid === process.pid || isWrittenHere(installation) || isLockHeld(installation, 'platform');
}

/** Null where the system does not tell. */
function worksIn({ dir }: Installation, pid: number): boolean | null {
  const folder = workingDirOf(pid);
  return folder === null ? null : isSameFolder(folder, dir);
}
