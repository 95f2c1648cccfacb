import { useNow } from './use-now.ts';

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

/** A moment as a distance from now, with the exact time on hover. */
export function RelativeTime({ at }: { readonly at: number }) {
  const now = useNow(Math.abs(Date.now() - at) < 120_000 ? 1000 : 30_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {relative(at, now)}
    </time>
  );
}

export function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return words.format(Math.trunc(seconds / length), unit);
}
