import { BoundedMap } from '../../bounded-map.ts';
import type { ExchangeEnds } from './subjects.ts';

/** Requests that ended before their answerer said its last word: cancelled, timed out, malformed. The oldest gives way. */
const requestsMax = 4096;
/** Frames of one request that may still be on their way: a window, its final reply, and the answer to one inquiry. */
const framesMax = 66;

interface Late {
  readonly answerer: string;
  frames: number;
}

/** Frames that an honest answerer had sent before it learnt that nobody waits any more. They are dropped, and its sender is not blamed. */
export class Stragglers {
  readonly #late = new BoundedMap<Late>(requestsMax);

  expect(id: string, answerer: string): void {
    this.#late.set(id, { answerer, frames: framesMax });
  }

  /** Whether the frame is one of those. */
  take({ id, answerer }: ExchangeEnds): boolean {
    const late = this.#late.get(id);
    return late !== undefined && late.answerer === answerer && --late.frames >= 0;
  }
}
