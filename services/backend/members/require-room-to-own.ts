import type { UserId } from '../../contracts/ids.ts';
import { ownWorkspacesMax } from '../../contracts/workspace-limits.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Transaction } from '../graph/graph.ts';

/**
 * A person owns a bounded number of workspaces, in whatever way the person became an owner. So nobody makes room by
 * leaving a workspace to an accomplice: each workspace counts for the owner that it keeps.
 */
export async function requireRoomToOwn(transaction: Transaction, user: UserId): Promise<void> {
  const where = [
    { field: 'user', equals: user },
    { field: 'role', equals: 'owner' },
  ] as const;
  const owned = await transaction.count({ type: 'member', anchor: 'everywhere', where, limit: ownWorkspacesMax });
  if (owned >= ownWorkspacesMax) throw tooMany('workspaces of one owner', ownWorkspacesMax);
  // The person guards the number: two memberships that begin at the same time conflict.
  await transaction.update('user', user, {}, { anchor: null });
}
