/** Something to be run after whoever asked for it has returned. */
export interface Turn {
  /** Must not throw. */
  run(): void;
}

/** Deliveries after which timers and sockets get their turn. A delivery takes a microsecond, or fifty where its handler parses it. */
const runMax = 64;

/**
 * The one queue of everything on its way. It is what makes the bus asynchronous: nobody's code runs inside somebody else's call.
 * Deliveries are microtasks, because a turn of the event loop costs more than all else they do.
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

  /** A chain of deliveries that cause deliveries must not starve the event loop: every so often it waits for a turn. */
  #schedule(): void {
    if (this.#runSinceLoop < runMax) {
      queueMicrotask(this.#drain);
    } else {
      this.#runSinceLoop = 0;
      setImmediate(this.#drain);
    }
  }
}
