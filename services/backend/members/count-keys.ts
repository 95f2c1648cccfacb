import type { UserId, WorkspaceId } from '../../contracts/ids.ts';
import { pageMax, type Transaction } from '../graph/graph.ts';

/** The keys and connected agents of a member that are not revoked. */
export async function countKeys(transaction: Transaction, workspace: WorkspaceId, user: UserId): Promise<number> {
  const options = { anchor: workspace, limitEach: pageMax };
  const keys = (await transaction.followBack({ from: 'key', edge: 'user' }, [user], options)).get(user) ?? [];
  return keys.filter(({ revokedAt }) => revokedAt === null).length;
}
