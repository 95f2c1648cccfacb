/** Times and sizes as text for people. */
export function ago(then: number | null, now: number = Date.now()): string {
  if (then === null) return 'never';
  return `${span(Math.max(0, now - then))} ago`;
}

export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

export function milliseconds(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : span(ms);
}

export function megabytes(bytes: number | null): string {
  return bytes === null ? '–' : `${Math.round(bytes / 1_048_576)} MB`;
}

export function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
