/** Waiting times that double from try to try up to a maximum, half of each left to chance so that nobody retries in step. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** How long to wait after the `failures`-th failure in a row, counted from 1. `random` lies in [0, 1). */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random / 2));
}
