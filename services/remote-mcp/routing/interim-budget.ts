/** How many interim replies and bytes may arrive at once, and how many more each second. */
export interface InterimBounds {
  readonly repliesMax: number;
  readonly repliesPerSecond: number;
  readonly bytesMax: number;
  readonly bytesPerSecond: number;
}

const mebibyte = 1024 * 1024;

/** Of one call. A person can follow a few notifications a second. */
export const boundsOfCall: InterimBounds = {
  ...{ repliesMax: 200, repliesPerSecond: 100 },
  ...{ bytesMax: mebibyte, bytesPerSecond: mebibyte },
};
/** Of all calls in progress at one runtime process. */
export const boundsOfProcess: InterimBounds = {
  ...{ repliesMax: 2000, repliesPerSecond: 1000 },
  ...{ bytesMax: 4 * mebibyte, bytesPerSecond: 4 * mebibyte },
};

/** The interim replies of one sender that are checked and passed on. */
export class InterimBudget {
  readonly #bounds: InterimBounds;
  #replies: number;
  #bytes: number;
  #at: number;

  constructor(bounds: InterimBounds, now: number) {
    this.#bounds = bounds;
    this.#replies = bounds.repliesMax;
    this.#bytes = bounds.bytesMax;
    this.#at = now;
  }

  /** False if the sender exceeds its bounds. Then nothing is spent. */
  spend(now: number, bytes: number): boolean {
    const { repliesMax, repliesPerSecond, bytesMax, bytesPerSecond } = this.#bounds;
    const seconds = (now - this.#at) / 1000;
    this.#at = now;
    this.#replies = Math.min(repliesMax, this.#replies + seconds * repliesPerSecond);
    this.#bytes = Math.min(bytesMax, this.#bytes + seconds * bytesPerSecond);
    if (this.#replies < 1 || this.#bytes < bytes) return false;
    this.#replies--;
    this.#bytes -= bytes;
    return true;
  }
}
