/** What becomes of a part that ended without being asked. */
export type NextStep = { readonly kind: 'start'; readonly delayMs: number } | { readonly kind: 'give_up' };

export interface RestartPolicy {
  /** Who lived this long was well: what ended it later is another story. */
  readonly stableMs: number;
  /** Starts in a row that came to nothing, after which nobody waits any longer. */
  readonly triesMax: number;
  readonly delayFirstMs: number;
  readonly delayMaxMs: number;
}

/** `livedMs`: how long each of the last runs lasted, the youngest last. The first time nobody waits; then ever longer; then no more. */
export function nextStep(livedMs: readonly number[], policy: RestartPolicy): NextStep {
  const lastStable = livedMs.findLastIndex((lived) => lived >= policy.stableMs);
  const short = livedMs.length - 1 - lastStable;
  if (short > policy.triesMax) return { kind: 'give_up' };
  const delayMs = short <= 1 ? 0 : Math.min(policy.delayFirstMs * 2 ** (short - 2), policy.delayMaxMs);
  return { kind: 'start', delayMs };
}

/** How many of the last runs the policy looks at. */
export function runsSeen({ triesMax }: RestartPolicy): number {
  return triesMax + 1;
}
