import type { Socket } from 'node:net';
import { SvcError } from '../../contracts/errors.ts';

export interface CheckPlacesOptions {
  /** Checks at once. */
  readonly places: number;
  readonly waitingMax: number;
  readonly waitMaxMs: number;
}

/** A check without a connection of its own is named by its key's digest. */
export type CheckSender = Socket | string;

/**
 * Places for checks of keys, given in the order in which they were asked for. Each sender waits with one check at a time, so that a sender
 * gets no further by asking more often.
 */
export class CheckPlaces {
  readonly #options: CheckPlacesOptions;
  /** What begins each check, oldest first. */
  readonly #waiting = new Map<CheckSender, () => void>();
  #taken = 0;

  constructor(options: CheckPlacesOptions) {
    this.#options = options;
  }

  /** Throws `unavailable` where no place is free in time, or where the connection is closed before. */
  async run<Result>(sender: CheckSender, check: () => Promise<Result>): Promise<Result> {
    if (this.#taken < this.#options.places) this.#taken++;
    else await this.#wait(sender);
    try {
      return await check();
    } finally {
      this.#leave();
    }
  }

  #wait(sender: CheckSender): Promise<void> {
    const { waitingMax, waitMaxMs } = this.#options;
    if (this.#waiting.has(sender) || this.#waiting.size >= waitingMax) throw tooMany();
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(late);
        if (typeof sender !== 'string') sender.off('close', giveUp);
        this.#waiting.delete(sender);
      };
      const giveUp = () => {
        settle();
        reject(tooMany());
      };
      const late = setTimeout(giveUp, waitMaxMs);
      if (typeof sender !== 'string') sender.once('close', giveUp);
      this.#waiting.set(sender, () => {
        settle();
        resolve();
      });
    });
  }

  /** Hands the place to the check that has waited longest. */
  #leave(): void {
    const [begin] = this.#waiting.values();
    if (begin === undefined) this.#taken--;
    else begin();
  }
}

function tooMany(): SvcError {
  return new SvcError('unavailable', 'Too many API keys are being checked at once.', { hint: 'Try again shortly.' });
}
