import { statSync } from 'node:fs';
import type { Installation } from '../../state/installation.ts';
import type { Owner } from './given-files.ts';

/** Whom everything runs as where root owns the installation: nobody else's number on most machines. */
const ofRoot: Owner = { uid: 10_001, gid: 10_001 };

export interface RunsAs {
  /** In the container. */
  readonly user: string;
  /** On this machine: the files that containers are given belong to it. */
  readonly owner: Owner;
}

/**
 * As whoever owns the installation, never as root. In a rootless Docker root of a container is its owner outside, and every other number somebody
 * who may read nothing of theirs; what root may do is taken away there as everywhere.
 */
export function runsAs({ dir }: Installation, isRootless: boolean): RunsAs {
  const { uid, gid } = statSync(dir);
  if (isRootless) return { user: '0:0', owner: { uid, gid } };
  const owner = uid === 0 ? ofRoot : { uid, gid };
  return { user: `${owner.uid}:${owner.gid}`, owner };
}

/** Whoever owns the installation, as a container sees him: `uid:gid`. */
export function ownerInside({ dir }: Installation, isRootless: boolean): string {
  const { uid, gid } = statSync(dir);
  return isRootless ? '0:0' : `${uid}:${gid}`;
}
