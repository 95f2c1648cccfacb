import { SvcError } from '../../services/contracts/errors.ts';

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A span as a person writes it, in milliseconds. Null is without an end. */
export function parseWait(flag: string, text: string): number | null {
  if (text === 'forever') return null;
  const ms = spanOf(text);
  if (ms !== null) return ms;
  throw new SvcError('invalid_input', `${flag} must be a span such as 30s or 5m, or "forever", not "${text}".`);
}

function spanOf(text: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const factor = units[unit];
  return amount === undefined || factor === undefined ? null : Number(amount) * factor;
}

/** A moment as a person writes it: a span from now (30d, 10m) into the past or the future, or a date (ISO 8601). */
export function parseMoment(
  flag: string,
  text: string,
  direction: 'past' | 'future',
  now: number = Date.now(),
): number {
  const ms = spanOf(text);
  if (ms !== null) return direction === 'past' ? now - ms : now + ms;
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(date)) return date;
  throw new SvcError(
    'invalid_input',
    `${flag} must be a span such as 30d, 12h or 10m, or a date such as 2027-01-31, not "${text}".`,
  );
}
