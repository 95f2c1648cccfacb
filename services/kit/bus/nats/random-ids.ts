import { randomFillSync } from 'node:crypto';

const idBytes = 16;
/** One system call fetches the random bytes of so many ids: a call each would show in the time of a warm request. */
const idsPerDraw = 256;

/** Ids of exchanges and messages. Each is 128 random bits, so knowing some of them tells nothing about another. */
export class RandomIds {
  readonly #drawn = Buffer.alloc(idBytes * idsPerDraw);
  #used = this.#drawn.length;

  next(): string {
    if (this.#used === this.#drawn.length) {
      randomFillSync(this.#drawn);
      this.#used = 0;
    }
    this.#used += idBytes;
    return this.#drawn.toString('base64url', this.#used - idBytes, this.#used);
  }
}
