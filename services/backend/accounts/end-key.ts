import type { Node, Transaction } from '../graph/graph.ts';
import { leaveToHistory } from '../members/count-keys.ts';

/** Revokes a key, which frees its name. */
export async function endKey(transaction: Transaction, { id, workspace: anchor }: Node<'key'>): Promise<Node<'key'>> {
  const ends = await transaction.follow({ from: 'key', edge: 'user' }, [id], { anchor, limitEach: 1 });
  await leaveToHistory(
    transaction,
    id,
    (ends.get(id) ?? []).map((person) => person.id),
  );
  return await transaction.update('key', id, { revokedAt: Date.now(), activeName: null }, { anchor });
}
