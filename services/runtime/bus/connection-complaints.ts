import type { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';

/** A bus that is away is tried again and again; once a minute is often enough to be told. */
const tellEveryMs = 60_000;

/** Says why there is no connection: at once, and then once in a while for as long as there is none. */
export class ConnectionComplaints {
  readonly #logger: Logger;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  tell(error: SvcError): void {
    const now = performance.now();
    const isDue = now - this.#toldAt >= tellEveryMs || error.code === 'internal';
    if (isDue) this.#toldAt = now;
    this.#logger[isDue ? 'warn' : 'debug']({ err: error, hint: error.hint }, 'could not connect to the bus');
  }

  /** The next one is news. */
  forget(): void {
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }
}
