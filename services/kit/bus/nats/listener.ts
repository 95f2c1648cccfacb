import type { Responder, RespondOptions, Subscription } from '../bus.ts';
import type { Answerer } from './answering.ts';

const concurrencyMaxDefault = 1024;

/** One who answers requests, several at a time. */
export class Listener implements Answerer, Subscription {
  readonly handle: Responder;
  readonly #concurrencyMax: number;
  readonly #leave: () => Promise<void>;
  /** Questions whose handlers have not returned, whether or not their asker still waits. */
  #running = 0;

  constructor(handle: Responder, options: RespondOptions, leave: () => Promise<void>) {
    this.handle = handle;
    this.#concurrencyMax = options.concurrencyMax ?? concurrencyMaxDefault;
    this.#leave = leave;
  }

  get isFull(): boolean {
    return this.#running >= this.#concurrencyMax;
  }

  /** A question is whole and its handler is called. */
  began(): void {
    this.#running++;
  }

  settled(): void {
    this.#running--;
  }

  stop(): Promise<void> {
    return this.#leave();
  }
}
