/** What becomes of a part that ended without being asked. */
export type NextStep = { readonly kind: 'start'; readonly delayMs: number } | { readonly kind: 'give_up' };

/** Who lived this long was well: what ended it later is another story. */
export const stableMs = 10_000;
/** Starts in a row that came to nothing: the last of them is half a minute after the first, and nobody mends anything meanwhile. */
export const triesMax = 8;
const delayFirstMs = 250;
const delayMaxMs = 10_000;

/** How many of the last runs the policy looks at. */
export const runsSeen = triesMax + 1;

/** `livedMs`: how long each of the last runs lasted, the youngest last. The first time nobody waits; then ever longer; then no more. */
export function nextStep(livedMs: readonly number[]): NextStep {
  const lastStable = livedMs.findLastIndex((lived) => lived >= stableMs);
  const short = livedMs.length - 1 - lastStable;
  if (short > triesMax) return { kind: 'give_up' };
  const delayMs = short <= 1 ? 0 : Math.min(delayFirstMs * 2 ** (short - 2), delayMaxMs);
  return { kind: 'start', delayMs };
}
