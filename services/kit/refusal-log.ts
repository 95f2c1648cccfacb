import type { Logger } from './log.ts';

const windowMs = 60_000;

export interface RefusalLogOptions {
  /** Lines a minute, whatever the number of senders. */
  readonly linesMax?: number;
  readonly level?: 'info' | 'warn';
}

/** Writes refusals to the log at a bounded rate: each sender's once a minute, and then how many more there were. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #linesMax: number;
  readonly #level: 'info' | 'warn';
  readonly #written = new Set<string>();
  #unwritten = 0;
  #windowEnds = 0;

  constructor(logger: Logger, { linesMax = 60, level = 'warn' }: RefusalLogOptions = {}) {
    this.#logger = logger;
    this.#linesMax = linesMax;
    this.#level = level;
  }

  /** `sender`: refusals of one sender are one line a minute. It must be proven: nobody may choose many names. */
  write(sender: string, fields: object, what: string): void {
    const now = performance.now();
    if (now >= this.#windowEnds) {
      if (this.#unwritten > 0) this.#logger[this.#level]({ count: this.#unwritten }, 'left out further refusals');
      this.#written.clear();
      this.#unwritten = 0;
      this.#windowEnds = now + windowMs;
    }
    if (this.#written.has(sender) || this.#written.size >= this.#linesMax) {
      this.#unwritten++;
      return;
    }
    this.#written.add(sender);
    this.#logger[this.#level](fields, what);
  }
}
