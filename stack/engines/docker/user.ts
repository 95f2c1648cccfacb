import { statSync } from 'node:fs';
import type { Installation } from '../../state/installation.ts';
import type { Owner } from './given-files.ts';

/** The user of the containers where root owns the installation. Few machines have a user with this number. */
const ofRoot: Owner = { uid: 10_001, gid: 10_001 };

export interface RunsAs {
  /** In the container, as `uid:gid`. */
  readonly user: string;
  /** On this machine: the owner of the files that containers get. */
  readonly owner: Owner;
}

/**
 * The owner of the installation, but never root. In a rootless Docker, root of a container is that owner outside, and other users cannot
 * read the files. The container drops root's capabilities there too.
 */
export function runsAs({ dir }: Installation, isRootless: boolean): RunsAs {
  const { uid, gid } = statSync(dir);
  if (isRootless) return { user: '0:0', owner: { uid, gid } };
  const owner = uid === 0 ? ofRoot : { uid, gid };
  return { user: `${owner.uid}:${owner.gid}`, owner };
}

/** The owner of the installation as a container sees it: `uid:gid`. */
export function ownerInside({ dir }: Installation, isRootless: boolean): string {
  const { uid, gid } = statSync(dir);
  return isRootless ? '0:0' : `${uid}:${gid}`;
}
