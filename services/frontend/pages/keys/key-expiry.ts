/** How a person says when a key expires. `day`: on a day of the calendar. */
export const expiryKinds = ['never', '30', '90', '365', 'day'] as const;
export type ExpiryKind = (typeof expiryKinds)[number];

export interface Expiry {
  readonly kind: ExpiryKind;
  /** Such as 2027-01-31. It counts for `day` alone. */
  readonly day: string;
}

export const noExpiry: Expiry = { kind: 'never', day: '' };
const dayMs = 24 * 60 * 60 * 1000;

/** The moment at which a key expires; null: never. `undefined` while the day is missing or has passed. */
export function momentOf({ kind, day }: Expiry, now: number): number | null | undefined {
  if (kind === 'never') return null;
  if (kind !== 'day') return now + Number(kind) * dayMs;
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  // The whole day counts, in the time zone of the person.
  const end = new Date(year, month - 1, date + 1).getTime();
  return Number.isFinite(end) && end > now ? end : undefined;
}
