import { setTimeout as pause } from 'node:timers/promises';

/** When nobody has asked for this long, all who ask know that they should not. */
const quietMs = 100;
/** Who goes on asking never knows, and has to find out. */
const withinMs = 5000;
/** A turn that comes this late means that this process was busy: what was asked meanwhile waits to be read. */
const lateMs = 50;

/** Tells one who is about to leave when nobody asks any more. */
export class Quiet {
  #askedAt = 0;

  asked(): void {
    this.#askedAt = performance.now();
  }

  /** Resolves when nobody has asked for a while, at the latest after a few seconds. */
  async wait(): Promise<void> {
    let since = performance.now();
    const deadline = since + withinMs;
    for (;;) {
      const now = performance.now();
      const quietAt = Math.min(Math.max(since, this.#askedAt) + quietMs, deadline);
      if (now >= quietAt) return;
      await pause(quietAt - now);
      const late = performance.now();
      if (late - quietAt > lateMs) since = late;
    }
  }
}
