/** How times and sizes are said to people. */
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

export function megabytes(bytes: number | null): string {
  return bytes === null ? '–' : `${Math.round(bytes / 1_048_576)} MB`;
}

export function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** The candidate a person most likely meant, or null where none is near. */
export function didYouMean(given: string, candidates: readonly string[]): string | null {
  const scored = candidates
    .map((candidate) => ({ candidate, distance: editDistance(given.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best && best.distance <= Math.max(1, Math.floor(given.length / 3)) ? best.candidate : null;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
