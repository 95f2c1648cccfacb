import { setTimeout as wait } from 'node:timers/promises';

const firstMs = 50;
const maxMs = 10_000;

/** Waits before the next attempt: each wait is twice the one before, up to a maximum, with jitter. */
export class Backoff {
  #nextMs = firstMs;

  /** Rejects with an AbortError when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (0.5 + Math.random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, maxMs);
    await wait(ms, undefined, { signal });
  }

  reset(): void {
    this.#nextMs = firstMs;
  }
}
