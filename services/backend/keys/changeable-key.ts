import type { Change } from '../activity/change.ts';
import type { Node } from '../graph/graph.ts';
import { allows, requireRight } from '../members/access.ts';
import { getKey } from './find-key.ts';

/** A key that the caller may change: members change their own, and who administers the workspace changes all. */
export async function getChangeableKey(change: Change, named: string): Promise<Node<'key'>> {
  const { transaction, workspace, access } = change;
  const key = await getKey(transaction, workspace, named);
  if (allows(access.role, 'administer')) return key;
  const edge = key.revokedAt === null ? 'user' : 'formerUser';
  const ends = await transaction.follow({ from: 'key', edge }, [key.id], { anchor: workspace, limitEach: 1 });
  const { principal } = access;
  const isOwn = principal.kind === 'user' && ends.get(key.id)?.[0]?.id === principal.user;
  if (!isOwn) requireRight(access, 'administer');
  return key;
}
