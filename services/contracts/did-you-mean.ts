/** The candidate that a mistyped word was probably meant to be, or null when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const ranked = [...candidates]
    // Their lengths differ by more edits than the limit. Long candidates cost most.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance: edits }) => edits <= limit)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? null;
}

/** A sentence to append to an error about an unknown word: the likely one, else the known ones. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const likely = nearest(word, candidates);
  if (likely !== null) return `Did you mean "${likely}"?`;
  if (candidates.length === 0) return 'There is none yet.';
  const others = candidates.length - shownMax;
  return `Known here: ${candidates.slice(0, shownMax).join(', ')}${others > 0 ? ` and ${others} others` : ''}.`;
}

/** A workspace may have hundreds of tools. */
const shownMax = 20;

/** Edits between two words: letters added, removed, replaced, or two neighbours swapped. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : replaced;
      current.push(Math.min(replaced, swapped, at(previous, j) + 1, at(current, j - 1) + 1));
    }
    before = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
