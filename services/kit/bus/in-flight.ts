/** Work with a deadline. */
export interface Deadlined {
  /** By `performance.now()`. */
  readonly deadline: number;
  /** Its index in the list of requests in progress, which `InFlight` keeps. */
  place: number;
  timeOut(): void;
}

/**
 * How late an expired deadline may be noticed. One timer checks all requests, because a timer for each would cost more
 * than the message.
 */
const tickMs = 25;

/**
 * All requests in progress on the bus. Their number is bounded by the limits of responders. They are in an array, because a
 * Set or Map whose members change all the time keeps removed members in memory (decision 0053).
 */
export class InFlight<Item extends Deadlined> {
  readonly #items: Item[] = [];
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  begin(item: Item): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
  }

  /** Idempotent. */
  done(item: Item): void {
    if (this.#has(item)) this.#remove(item.place);
    if (this.#watchers.size > 0) for (const watcher of this.#watchers) watcher();
  }

  some(concerns: (item: Item) => boolean): boolean {
    return this.#items.some(concerns);
  }

  which(concerns: (item: Item) => boolean): readonly Item[] {
    return this.#items.filter(concerns);
  }

  /** Resolves when no matching item is in flight, which each item's own deadline ensures. */
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

  #has(item: Item): boolean {
    return this.#items[item.place] === item;
  }

  /** The last item takes the place of the removed one. */
  #remove(place: number): void {
    const last = this.#items.pop();
    if (last === undefined || place === this.#items.length) return;
    this.#items[place] = last;
    last.place = place;
  }

  #tick(): void {
    const now = performance.now();
    // The end of one item may end others.
    for (const item of this.which(({ deadline }) => deadline <= now)) if (this.#has(item)) item.timeOut();
    if (this.#items.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
