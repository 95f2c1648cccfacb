import { setTimeout as pause } from 'node:timers/promises';

/** After this long without a request, all clients know that they should stop. */
const quietMs = 100;
/** A client that keeps sending never learns it, and finds its connection closed. */
const withinMs = 5000;
/** A turn that comes this late means that this process was busy: requests sent meanwhile wait to be read. */
const lateMs = 50;

/** Informs a stopping service when no more requests come. */
export class Quiet {
  #askedAt = 0;

  asked(): void {
    this.#askedAt = performance.now();
  }

  /** Resolves when no request has come for a while, at the latest after a few seconds. */
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
