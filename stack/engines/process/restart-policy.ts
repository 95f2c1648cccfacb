/** What happens to a part that ended unexpectedly. */
export type NextStep = { readonly kind: 'start'; readonly delayMs: number } | { readonly kind: 'give_up' };

export interface RestartPolicy {
  /** A run of this length counts as stable. A later end is a new problem. */
  readonly stableMs: number;
  /** Failed starts in a row before the supervisor gives up. */
  readonly triesMax: number;
  readonly delayFirstMs: number;
  readonly delayMaxMs: number;
}

/**
 * `livedMs`: how long each of the last runs lasted, the newest last. The first restart is immediate, later ones are delayed ever longer.
 */
export function nextStep(livedMs: readonly number[], policy: RestartPolicy): NextStep {
  const lastStable = livedMs.findLastIndex((lived) => lived >= policy.stableMs);
  const short = livedMs.length - 1 - lastStable;
  if (short > policy.triesMax) return { kind: 'give_up' };
  const delayMs = short <= 1 ? 0 : Math.min(policy.delayFirstMs * 2 ** (short - 2), policy.delayMaxMs);
  return { kind: 'start', delayMs };
}

/** How many of the last runs the policy needs. */
export function runsSeen({ triesMax }: RestartPolicy): number {
  return triesMax + 1;
}
