import type { SvcError } from '../../contracts/errors.ts';
import { silenceMaxMs } from './call-deadlines.ts';

/** A call that ends whoever takes it must not end them all. */
const repeatsMax = 2;

/** One call of an agent, and what goes from one attempt at it to the next. */
export class Attempts {
  #startedAt = performance.now();
  #heardAt = this.#startedAt;
  #isSent = false;
  #repeats = 0;
  #failure: SvcError | null = null;
  /** The most progress that the agent was told of, in all attempts and in those before this one. */
  #told = Number.NEGATIVE_INFINITY;
  #toldBefore = Number.NEGATIVE_INFINITY;

  /** When the call was first sent. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Called before the call is sent. The time that it waited for a start is not part of its duration. */
  sending(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#startedAt = this.#heardAt = performance.now();
  }

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
