import { SvcError } from '../../../contracts/errors.ts';

export interface WriteQueueOptions {
  readonly waitMs: number;
  readonly waitingMax: number;
}

/** One after the other, in the order of asking. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) throw closedError();
    if (this.#waiting === this.#options.waitingMax) {
      throw new SvcError('unavailable', `${this.#waiting} changes are waiting to be saved already: try again later.`);
    }
    const asked = performance.now();
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    this.#waiting += 1;
    await before;
    this.#waiting -= 1;
    try {
      if (performance.now() - asked > this.#options.waitMs) {
        throw new SvcError('unavailable', 'The change was not saved: those before it took too long. Try again.');
      }
      return await work();
    } finally {
      turn.resolve();
    }
  }

  /** Lets what was asked for finish, and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }
}

export function closedError(): SvcError {
  return new SvcError('unavailable', 'The graph is closed.');
}
