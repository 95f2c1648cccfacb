/** Concurrent starts: each is a burst of work for the machine, and an `npx` is several processes. */
const startsMax = 4;
/** A start that takes longer does not wait for the processor, and lets the next one begin. */
const holdMaxMs = 5000;

/** Keeps a hundred MCP servers from starting in the same second. */
export class StartGate {
  #free = startsMax;
  readonly #queue: (() => void)[] = [];

  /** Waits for a turn. The returned function ends it; it also ends by itself after a while. */
  async turn(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    if (signal.aborted) {
      this.#pass();
      throw signal.reason;
    }
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      clearTimeout(timer);
      this.#pass();
    };
    const timer = setTimeout(release, holdMaxMs);
    return release;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#queue.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #pass(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
