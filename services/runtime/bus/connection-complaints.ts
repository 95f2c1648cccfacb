import type { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';

/** How often an unreachable bus is logged, which is retried much more often. */
const tellEveryMs = 60_000;

/** Logs why there is no connection: at once, and then regularly while there is none. */
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
    this.#logger[isDue ? 'warn' : 'debug']({ err: error, hint: error.hint }, 'failed to connect to the bus');
  }

  /** The next problem is logged at once. */
  forget(): void {
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }
}
