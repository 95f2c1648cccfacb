import { SvcError } from '../../contracts/errors.ts';
import type { KeyId } from '../../contracts/ids.ts';

export interface RoomOptions {
  /** As the refusal calls them. */
  readonly what: string;
  readonly max: number;
  readonly perKeyMax: number;
  /** How whoever is refused makes room. */
  readonly hint: string;
}

/** Room in one remote-mcp for so many in all, and for so many of one key, so that no agent takes all. */
export class Room {
  readonly #options: RoomOptions;
  readonly #takenByKey = new Map<KeyId, number>();
  #taken = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Throws `rate_limited` where there is none for one more. */
  check(key: KeyId): void {
    const { what, max, perKeyMax, hint } = this.#options;
    const isFull = this.#taken >= max;
    if (!isFull && this.#takenBy(key) < perKeyMax) return;
    const message = isFull ? `Too many ${what} are open.` : `This key has too many open ${what}.`;
    throw new SvcError('rate_limited', message, { hint });
  }

  take(key: KeyId): void {
    this.#taken++;
    this.#takenByKey.set(key, this.#takenBy(key) + 1);
  }

  leave(key: KeyId): void {
    this.#taken--;
    const left = this.#takenBy(key) - 1;
    if (left > 0) this.#takenByKey.set(key, left);
    else this.#takenByKey.delete(key);
  }

  #takenBy(key: KeyId): number {
    return this.#takenByKey.get(key) ?? 0;
  }
}
