import { SvcError } from './errors.ts';

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
