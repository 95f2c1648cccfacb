import type { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Exchange } from './exchange.ts';

/** Anybody can be refused as often as they like, so only so many refusals a second are written down. */
const linesPerSecond = 10;

/** Writes down who was refused and why, for whoever asks why an agent gets in no more. */
export class RefusalLog {
  readonly #log: Logger;
  #second = 0;
  #lines = 0;
  #left = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  note({ id, owner, request }: Exchange, { code, message }: SvcError): void {
    const from = request.socket.remoteAddress;
    const { method } = request;
    this.write(
      { request: id, method, from, ...(owner === null ? {} : { key: owner }), code, why: message },
      'refused a request',
    );
  }

  write(fields: object, text: string): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      if (this.#left > 0) this.#log.info({ refusals: this.#left }, 'left out further refusals');
      this.#second = second;
      this.#lines = 0;
      this.#left = 0;
    }
    if (this.#lines++ < linesPerSecond) this.#log.info(fields, text);
    else this.#left++;
  }
}
