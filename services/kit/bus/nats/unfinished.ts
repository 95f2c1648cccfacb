import { payloadMaxBytes } from '../bus.ts';

/** Questions of all senders whose frames are still coming in, together. */
const unfinishedMaxBytes = 16 * payloadMaxBytes;

/** A question that can be given up. */
export interface GivenUp {
  giveUp(): void;
}

/** Bounds the memory of questions whose last frame has not come. Above the bound, the question that began first is given up. */
export class Unfinished {
  readonly #bytes = new Map<GivenUp, number>();
  #total = 0;

  get bytes(): number {
    return this.#total;
  }

  grew(question: GivenUp, bytes: number): void {
    this.#bytes.set(question, (this.#bytes.get(question) ?? 0) + bytes);
    this.#total += bytes;
    for (const oldest of this.#bytes.keys()) {
      if (this.#total <= unfinishedMaxBytes) break;
      this.ended(oldest);
      oldest.giveUp();
    }
  }

  ended(question: GivenUp): void {
    this.#total -= this.#bytes.get(question) ?? 0;
    this.#bytes.delete(question);
  }
}
