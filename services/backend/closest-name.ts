/** The name most like the one given, or null where none is near: for "did you mean". */
export function closestName(given: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.floor(given.length / 3) + 1;
  for (const name of names) {
    if (Math.abs(name.length - given.length) > least) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance <= least && (best === null || distance < least)) {
      best = name;
      least = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(before, j - 2) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
