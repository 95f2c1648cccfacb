import type { Logger } from './log.ts';

const windowMs = 60_000;
/** Lines a minute, whatever the number of senders. */
const linesMax = 60;

/** Writes refusals to the log at a bounded rate: each sender's once a minute, and then how many more there were. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #written = new Set<string>();
  #unwritten = 0;
  #windowEnds = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `sender`: refusals of one sender are one line a minute. */
  write(sender: string, fields: object, what: string): void {
    const now = performance.now();
    if (now >= this.#windowEnds) {
      if (this.#unwritten > 0) this.#logger.warn({ count: this.#unwritten }, 'left out further refusals');
      this.#written.clear();
      this.#unwritten = 0;
      this.#windowEnds = now + windowMs;
    }
    if (this.#written.has(sender) || this.#written.size >= linesMax) {
      this.#unwritten++;
      return;
    }
    this.#written.add(sender);
    this.#logger.warn(fields, what);
  }
}
