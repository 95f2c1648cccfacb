import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work without a pause for longer than this would be felt by calls. */
const sliceMs = 2;

/** Cuts long work into slices, between which the event loop turns and calls get through. */
export class Slices {
  #startedAt = performance.now();

  /** True when it is time for a pause: then wait for `pause`. Cheap enough to ask for every line. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt > sliceMs;
  }

  async pause(): Promise<void> {
    await nextTurn();
    this.#startedAt = performance.now();
  }
}
