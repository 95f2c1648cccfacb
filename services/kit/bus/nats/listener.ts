import type { Responder, RespondOptions, Subscription } from '../bus.ts';
import type { Answerer } from './answering.ts';

const concurrencyMaxDefault = 1024;

/** Handles several requests concurrently. */
export class Listener implements Answerer, Subscription {
  readonly handle: Responder;
  readonly #concurrencyMax: number;
  readonly #leave: () => Promise<void>;
  /** Questions with running handlers, whether or not their caller still waits. */
  #running = 0;

  constructor(handle: Responder, options: RespondOptions, leave: () => Promise<void>) {
    this.handle = handle;
    this.#concurrencyMax = options.concurrencyMax ?? concurrencyMaxDefault;
    this.#leave = leave;
  }

  get isFull(): boolean {
    return this.#running >= this.#concurrencyMax;
  }

  /** A question is complete and its handler is called. */
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
