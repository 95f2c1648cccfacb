/** Work with a deadline. */
export interface Deadlined {
  /** By `performance.now()`. */
  readonly deadline: number;
  timeOut(): void;
}

/**
 * How late an expired deadline may be noticed. One timer checks all requests, because a timer for each would cost more
 * than the message.
 */
const tickMs = 25;

/** All requests in progress on the bus. Their number is bounded by the limits of responders. */
export class InFlight<Item extends Deadlined> {
  readonly #items = new Set<Item>();
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  begin(item: Item): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
  }

  done(item: Item): void {
    this.#items.delete(item);
    if (this.#watchers.size > 0) for (const watcher of this.#watchers) watcher();
  }

  some(concerns: (item: Item) => boolean): boolean {
    for (const item of this.#items) if (concerns(item)) return true;
    return false;
  }

  which(concerns: (item: Item) => boolean): readonly Item[] {
    return [...this.#items].filter(concerns);
  }

  /** Resolves when no matching item is in flight; each item's own deadline makes sure of that. */
  none(concerns: (item: Item) => boolean): Promise<void> {
    if (!this.some(concerns)) return Promise.resolve();
    return new Promise((resolve) => {
      const watcher = () => {
        if (this.some(concerns)) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  #tick(): void {
    const now = performance.now();
    for (const item of this.#items) if (item.deadline <= now) item.timeOut();
    if (this.#items.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
