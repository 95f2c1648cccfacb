/** A task that runs after the code that scheduled it has returned. */
export interface Turn {
  /** Must not throw. */
  run(): void;
}

/**
 * Deliveries before timers and sockets get their turn. A delivery takes a microsecond, or fifty when its handler parses
 * it.
 */
const runMax = 64;

/**
 * The one queue of deliveries. It makes the bus asynchronous: a handler never runs inside the sender's call. Deliveries
 * are microtasks, because a turn of the event loop costs more than the rest of a delivery.
 */
export class Turns {
  #waiting: Turn[] = [];
  #next = 0;
  #scheduled = false;
  #runSinceLoop = 0;
  readonly #drain = () => this.#runWaiting();

  later(turn: Turn): void {
    this.#waiting.push(turn);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule();
  }

  #runWaiting(): void {
    while (this.#next < this.#waiting.length && this.#runSinceLoop < runMax) {
      const turn = this.#waiting[this.#next++];
      this.#runSinceLoop++;
      turn?.run();
    }
    this.#waiting.splice(0, this.#next);
    this.#next = 0;
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) this.#schedule();
  }

  /** A chain of deliveries that cause deliveries must not starve the event loop: after each run it waits for a turn. */
  #schedule(): void {
    if (this.#runSinceLoop < runMax) {
      queueMicrotask(this.#drain);
    } else {
      this.#runSinceLoop = 0;
      setImmediate(this.#drain);
    }
  }
}
