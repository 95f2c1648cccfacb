/** Tokens and certificates fail with a clock that is wrong by this much. */
export const clockWrongMs = 2 * 60_000;

/** A repair, as a sentence of a hint. */
export const setClock = 'Let a time server set the clock, such as: timedatectl set-ntp true';

export interface Clocks {
  readonly hereMs: number;
  readonly thereMs: number;
  /** Owner of the other clock, as in "behind the platform's". */
  readonly whose: string;
}

/** Both times and their difference, as a sentence; null if the clocks agree. */
export function describeClocks({ hereMs, thereMs, whose }: Clocks): string | null {
  const aheadMs = hereMs - thereMs;
  if (Math.abs(aheadMs) < clockWrongMs) return null;
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${amountOf(Math.abs(aheadMs))} ${way} ${whose}: here it is ${momentOf(hereMs)}, there ${momentOf(thereMs)}.`;
}

/** Time of a `Date` header (RFC 9110 §6.6.1); null without one. */
export function timeOfDate(header: unknown): number | null {
  const ms = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
}

/** A certificate's first and last moment. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Why the certificate is refused at this time, in words that follow "its certificate"; null if its dates are right. */
export function refusedValidity({ fromMs, toMs }: Validity, nowMs: number): string | null {
  const clock = `the clock of this machine says ${momentOf(nowMs)}`;
  if (nowMs > toMs) return `expired at ${momentOf(toMs)}, and ${clock}`;
  return nowMs < fromMs ? `is not valid before ${momentOf(fromMs)}, and ${clock}` : null;
}

/** Error codes of OpenSSL for the dates of a certificate (X509_V_ERR_…). */
export function isAboutDates(code: string): boolean {
  return code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID';
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

function amountOf(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms >= 2 * one) ?? units[2];
  return `${Math.round(ms / size)} ${unit}s`;
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
