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

  /** Throws `rate_limited` where there is none for one more of this key. */
  check(key: KeyId): void {
    this.checkAll();
    const { what, perKeyMax, hint } = this.#options;
    if (this.#takenBy(key) < perKeyMax) return;
    throw new SvcError('rate_limited', `This key has too many open ${what}.`, { hint });
  }

  /** For one that was opened elsewhere, where its key had room. */
  checkAll(): void {
    const { what, max, hint } = this.#options;
    if (this.#taken >= max) throw new SvcError('rate_limited', `Too many ${what} are open.`, { hint });
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
