/** Delays that double from try to try up to a maximum. Half of each is random, so that clients do not retry in step. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The delay after the `failures`-th failure in a row, counted from 1. `random` is in [0, 1). */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random / 2));
}
