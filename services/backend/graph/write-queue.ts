import { SvcError } from '../../contracts/errors.ts';

export interface WriteQueueOptions {
  /** How long a call may wait for the calls before it, and how many may wait. */
  readonly waitMs: number;
  readonly waitingMax: number;
  /** Calls that run at once. */
  readonly atOnce: number;
}

/** Runs at most `atOnce` calls at once, in the order of arrival. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #running = 0;
  #closed = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) throw closedError();
    await this.#turn();
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
      this.#endWhenClosed();
    }
  }

  /** Drains: lets accepted calls finish and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endWhenClosed();
    await this.#ended.promise;
  }

  async #turn(): Promise<void> {
    const { atOnce, waitingMax, waitMs } = this.#options;
    if (this.#running < atOnce) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length === waitingMax) {
      throw new SvcError('unavailable', `${waitingMax} changes are waiting to be saved already: try again later.`);
    }
    const asked = performance.now();
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        // Synchronous, so that no new call overtakes this one.
        this.#running += 1;
        resolve();
      });
    });
    if (performance.now() - asked <= waitMs) return;
    this.#running -= 1;
    this.#waiting.shift()?.();
    this.#endWhenClosed();
    throw new SvcError('unavailable', 'The change was not saved: those before it took too long. Try again.');
  }

  #endWhenClosed(): void {
    if (this.#closed && this.#running === 0 && this.#waiting.length === 0) this.#ended.resolve();
  }
}

export function closedError(): SvcError {
  return new SvcError('unavailable', 'The graph is closed.');
}
