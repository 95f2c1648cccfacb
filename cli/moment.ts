import { SvcError } from '../services/contracts/errors.ts';

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A moment as a person writes it: a span from now (30d, 10m) into the past or the future, or a date (ISO 8601). */
export function parseMoment(
  flag: string,
  text: string,
  direction: 'past' | 'future',
  now: number = Date.now(),
): number {
  const [, amount, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const factor = units[unit ?? ''];
  if (amount !== undefined && factor !== undefined) {
    return direction === 'past' ? now - Number(amount) * factor : now + Number(amount) * factor;
  }
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(date)) return date;
  throw new SvcError(
    'invalid_input',
    `${flag} must be a span such as 30d, 12h or 10m, or a date such as 2027-01-31, not "${text}".`,
  );
}
