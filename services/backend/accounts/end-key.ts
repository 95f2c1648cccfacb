import type { Node, Transaction } from '../graph/graph.ts';

const user = { from: 'key', edge: 'user' } as const;
const formerUser = { from: 'key', edge: 'formerUser' } as const;

/**
 * Revokes a key, which frees its name. The key stays for the history, no longer among the keys of its person: those are
 * bounded, and the revoked ones are not.
 */
export async function endKey(transaction: Transaction, { id, workspace: anchor }: Node<'key'>): Promise<Node<'key'>> {
  const ends = await transaction.follow(user, [id], { anchor, limitEach: 1 });
  const people = (ends.get(id) ?? []).map((person) => person.id);
  await transaction.unlink(user, id, people);
  await transaction.link(formerUser, id, people);
  return await transaction.update('key', id, { revokedAt: Date.now(), activeName: null }, { anchor });
}
