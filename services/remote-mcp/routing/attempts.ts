import type { SvcError } from '../../contracts/errors.ts';

/** Architecture §11: a call may be silent for this long. */
export const silenceMaxMs = 60_000;
/** A call that ends whoever takes it must not end them all. */
const repeatsMax = 2;

/** One call of an agent, and what goes from one attempt at it to the next. */
export class Attempts {
  readonly startedAt = performance.now();
  #heardAt = this.startedAt;
  #repeats = 0;
  #failure: SvcError | null = null;
  /** The most progress that the agent was told of, in all attempts and in those before this one. */
  #told = Number.NEGATIVE_INFINITY;
  #toldBefore = Number.NEGATIVE_INFINITY;

  /** Why the last one failed. */
  get failure(): SvcError | null {
    return this.#failure;
  }

  /** Begins another attempt. False where there have been enough. */
  again(failure: SvcError): boolean {
    this.#failure = failure;
    if (this.#repeats >= repeatsMax) return false;
    this.#repeats++;
    this.#toldBefore = this.#told;
    return true;
  }

  /** All attempts together may be as silent as one. */
  get silenceLeftMs(): number {
    if (this.#repeats === 0) return silenceMaxMs;
    return Math.max(1, Math.ceil(silenceMaxMs - (performance.now() - this.#heardAt)));
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Progress must not go back (2025-11-25, "Progress"), and another attempt begins from nothing. */
  isNews(progress: unknown): boolean {
    if (typeof progress !== 'number') return this.#repeats === 0;
    if (progress <= this.#toldBefore) return false;
    this.#told = Math.max(this.#told, progress);
    return true;
  }
}
