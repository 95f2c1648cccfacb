import type { Socket } from 'node:net';
import { SvcError } from '../../contracts/errors.ts';
import { giveWay } from '../../kit/give-way.ts';

export interface CheckPlacesOptions {
  /** Checks that may run concurrently. */
  readonly places: number;
  readonly waitingMax: number;
  readonly waitMaxMs: number;
}

/** A connection, and whether its request has a chunked body, which may occupy ten thousand pieces of memory. */
export interface Waiter {
  readonly socket: Socket;
  readonly isChunked: boolean;
}

/** A check without a separate connection is named by its key's digest. */
export type CheckSender = Waiter | string;

/** Chunked bodies that may wait concurrently, at some 2 MiB each. */
const chunkedMax = 32;

/**
 * Places for checks of keys, in the order of the requests. Each sender waits with one check at a time, so repeated
 * requests gain a sender nothing.
 */
export class CheckPlaces {
  readonly #options: CheckPlacesOptions;
  /** The function that starts each waiting check, oldest first. */
  readonly #waiting = new Map<Socket | string, () => void>();
  #chunked = 0;
  #taken = 0;

  constructor(options: CheckPlacesOptions) {
    this.#options = options;
  }

  /** Throws `unavailable` if no place is free in time, or if the connection closes first. */
  async run<Result>(sender: CheckSender, check: () => Promise<Result>): Promise<Result> {
    const mustWait = this.#taken >= this.#options.places;
    if (mustWait) await this.#wait(sender);
    else this.#taken++;
    try {
      // Hundreds of connections may ask at once, so calls run first.
      if (mustWait || typeof sender !== 'string') await giveWay();
      return await check();
    } finally {
      this.#leave();
    }
  }

  #wait(sender: CheckSender): Promise<void> {
    const { waitingMax, waitMaxMs } = this.#options;
    const socket = typeof sender === 'string' ? null : sender.socket;
    const name = typeof sender === 'string' ? sender : sender.socket;
    const isChunked = typeof sender !== 'string' && sender.isChunked;
    if (this.#waiting.has(name) || this.#waiting.size >= waitingMax) throw tooMany();
    if (isChunked && this.#chunked >= chunkedMax) throw tooMany();
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(late);
        socket?.off('close', giveUp);
        this.#waiting.delete(name);
        if (isChunked) this.#chunked--;
      };
      const giveUp = () => {
        settle();
        reject(tooMany());
      };
      const late = setTimeout(giveUp, waitMaxMs);
      socket?.once('close', giveUp);
      if (isChunked) this.#chunked++;
      this.#waiting.set(name, () => {
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
