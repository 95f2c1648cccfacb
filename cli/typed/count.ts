import { SvcError } from '../../services/contracts/errors.ts';

/** A person reads no more lines than this. */
const countMax = 100_000;

/** The value of a flag that counts lines. */
export function parseCount(flag: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count <= countMax) return count;
  throw new SvcError('invalid_input', `${flag} must be a whole number from 0 to ${countMax}, not "${text}".`);
}
