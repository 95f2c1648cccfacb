import { type UsageRange, usageRanges } from '../../app/usage-range.ts';

const hourMs = 60 * 60 * 1000;

/** The hours of a range; the last one is under way. */
export function hoursOf(range: UsageRange, now: number): { readonly from: number; readonly to: number } {
  const to = now - (now % hourMs) + hourMs;
  return { from: to - usageRanges[range].hours * hourMs, to };
}

export interface Calls {
  readonly calls: number;
  readonly errors: number;
}

export interface Bucket extends Calls {
  /** When it begins. */
  readonly at: number;
}

interface HourOfCalls extends Calls {
  readonly hour: number;
}

/** Every hour of a range, or every day in the time zone of the person, also those without calls. */
export function bucketsOf(range: UsageRange, now: number, hours: readonly HourOfCalls[]): readonly Bucket[] {
  const { from, to } = hoursOf(range, now);
  const startOf = usageRanges[range].isByDay ? startOfDay : (at: number) => at;
  const buckets = new Map<number, Bucket>();
  for (let hour = from; hour < to; hour += hourMs) {
    const at = startOf(hour);
    buckets.set(at, { at, calls: 0, errors: 0 });
  }
  for (const { hour, calls, errors } of hours) {
    const at = startOf(hour);
    const before = buckets.get(at);
    if (before === undefined) continue;
    buckets.set(at, { at, calls: before.calls + calls, errors: before.errors + errors });
  }
  return [...buckets.values()];
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** `340 ms`, `1.2 s`, `3 min`. */
export function durationInWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** `3 %`; less than one in a hundred is not nothing. */
export function percentOf(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0 %';
  const percent = (100 * part) / whole;
  return percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}
