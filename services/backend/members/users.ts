import { parseEmail } from '../../contracts/email-address.ts';
import { newId } from '../../contracts/ids.ts';
import type { Node, Transaction } from '../graph/graph.ts';

/** The user of an e-mail address, created when missing. */
export async function ensureUser(transaction: Transaction, email: string): Promise<Node<'user'>> {
  const address = parseEmail(email);
  const known = await transaction.findBy('user', { email: address }, null);
  if (known !== null) return known;
  const [name = address] = address.split('@');
  return await transaction.create('user', {
    id: newId('user'),
    email: address,
    name,
    signedInAt: null,
    createdAt: Date.now(),
  });
}
