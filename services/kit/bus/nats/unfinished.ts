import { runtimeOrEnd } from '../../../contracts/bus/ends.ts';
import { payloadMaxBytes } from '../bus.ts';

/** Questions of one runtime whose frames are still coming in: two of the largest. */
const shareMaxBytes = 2 * payloadMaxBytes;
/** Those of all senders together. */
const unfinishedMaxBytes = 16 * payloadMaxBytes;

/** A question that can be given up. */
export interface GivenUp {
  /** The end that asks it. */
  readonly asker: string;
  giveUp(): void;
}

/**
 * Bounds the memory of questions whose last frame has not come. A question that grows beyond the share of its runtime, or beyond the bound
 * of all, is given up itself. So no runtime can push out the questions of another.
 */
export class Unfinished {
  readonly #bytes = new Map<GivenUp, number>();
  /** By runtime. */
  readonly #shares = new Map<string, number>();
  #total = 0;

  get bytes(): number {
    return this.#total;
  }

  grew(question: GivenUp, bytes: number): void {
    this.#bytes.set(question, (this.#bytes.get(question) ?? 0) + bytes);
    if (this.#add(question, bytes) <= shareMaxBytes && this.#total <= unfinishedMaxBytes) return;
    this.ended(question);
    question.giveUp();
  }

  ended(question: GivenUp): void {
    this.#add(question, -(this.#bytes.get(question) ?? 0));
    this.#bytes.delete(question);
  }

  /** Returns what the runtime of the question holds now. */
  #add({ asker }: GivenUp, bytes: number): number {
    const holder = runtimeOrEnd(asker);
    const share = (this.#shares.get(holder) ?? 0) + bytes;
    if (share > 0) this.#shares.set(holder, share);
    else this.#shares.delete(holder);
    this.#total += bytes;
    return share;
  }
}
