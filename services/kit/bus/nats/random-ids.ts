import { randomFillSync } from 'node:crypto';

const idBytes = 16;
/** Ids for which one system call draws the random bytes: a call for each would show in the time of a warm request. */
const idsPerDraw = 256;

/** Ids of exchanges and messages. Each has 128 random bits, so a known id says nothing about another. */
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
