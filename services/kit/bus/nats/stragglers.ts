import { BoundedMap } from '../../bounded-map.ts';
import type { ExchangeEnds } from './subjects.ts';

/**
 * Requests that ended before their responder's last frame: cancelled, timed out, malformed. The oldest is forgotten
 * first.
 */
const requestsMax = 4096;
/** Frames of one request that may still be in transit: a window, the final reply, and the answer to one inquiry. */
const framesMax = 66;

interface Late {
  readonly answerer: string;
  frames: number;
}

/**
 * Frames that an honest responder sent before it learnt of the request's end. They are dropped, and the sender is not
 * blamed.
 */
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
