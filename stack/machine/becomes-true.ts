import { setTimeout as pause } from 'node:timers/promises';

export interface Wait {
  readonly timeoutMs: number;
  /** Between two questions. */
  readonly pauseMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks until the answer is yes; false if it still is no after the time. Throws when the signal aborts. */
export async function becomesTrue(ask: () => boolean | Promise<boolean>, wait: Wait): Promise<boolean> {
  const { timeoutMs, pauseMs, signal } = wait;
  const deadline = performance.now() + timeoutMs;
  while (!(await ask())) {
    if (performance.now() >= deadline) return false;
    await pause(pauseMs, undefined, { signal });
  }
  return true;
}
