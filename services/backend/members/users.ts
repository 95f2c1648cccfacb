import { SvcError } from '../../contracts/errors.ts';
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

const emailLengthMax = 254; // RFC 5321 §4.5.3.1.3

/**
 * Only delivered mail proves an address; this refuses impossible ones. Addresses that differ only in case belong to one
 * person.
 */
export function parseEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (email.length <= emailLengthMax && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) return email;
  throw new SvcError('invalid_input', `"${text.slice(0, 80)}" is not an e-mail address.`);
}
