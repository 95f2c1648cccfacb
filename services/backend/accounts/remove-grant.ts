import { findId, type OauthRecordId } from '../../contracts/ids.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';

/** Removes the codes and tokens of a grant. */
export async function removeTokensOfGrant(transaction: Transaction, grant: OauthRecordId): Promise<void> {
  const where = [{ field: 'grant', equals: grant }] as const;
  const { nodes } = await transaction.select({ type: 'oauthRecord', anchor: null, where, limit: pageMax });
  for (const { id } of nodes) await transaction.remove('oauthRecord', id, null);
}

/** Removes the grant of a connected agent, and its tokens. Does nothing for another key. */
export async function removeGrantOfKey(transaction: Transaction, { grant }: Pick<Node<'key'>, 'grant'>): Promise<void> {
  const id = grant === null ? null : findId('oauthRecord', grant);
  if (id === null) return;
  await removeTokensOfGrant(transaction, id);
  await transaction.remove('oauthRecord', id, null);
}
