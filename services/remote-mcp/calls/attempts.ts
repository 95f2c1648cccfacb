import type { SvcError } from '../../contracts/errors.ts';

/** A call that crashes every process must not crash more than a few of them. */
const repeatsMax = 2;

/** One call of an agent, and the state that its attempts share. */
export class Attempts {
  #startedAt = performance.now();
  #heardAt = this.#startedAt;
  #isSent = false;
  #repeats = 0;
  #failure: SvcError | null = null;
  /** The highest progress sent to the agent by any attempt. */
  #told = Number.NEGATIVE_INFINITY;
  #toldBefore = Number.NEGATIVE_INFINITY;

  /** When the call was first sent. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Called before the call is sent. The wait for a start is not part of the duration. */
  sending(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#startedAt = this.#heardAt = performance.now();
  }

  /** The error of the last attempt. */
  get failure(): SvcError | null {
    return this.#failure;
  }

  /** Begins another attempt. False if no further attempt is allowed. */
  again(failure: SvcError): boolean {
    this.#failure = failure;
    if (this.#repeats >= repeatsMax) return false;
    this.#repeats++;
    this.#toldBefore = this.#told;
    return true;
  }

  /** All attempts together may be silent as long as one. */
  silenceLeftMs(silenceMaxMs: number): number {
    if (this.#repeats === 0) return silenceMaxMs;
    return Math.max(1, Math.ceil(silenceMaxMs - (performance.now() - this.#heardAt)));
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Progress must not decrease (2025-11-25, "Progress"), and each attempt begins at zero. */
  isNews(progress: unknown): boolean {
    if (typeof progress !== 'number') return this.#repeats === 0;
    if (progress <= this.#toldBefore) return false;
    this.#told = Math.max(this.#told, progress);
    return true;
  }
}
