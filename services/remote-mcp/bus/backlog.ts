export interface BacklogOptions<Item> {
  /** False if the item could not be handled now. It is retried after a while. */
  readonly work: (item: Item) => Promise<boolean>;
  readonly againMs: number;
}

/** Ten thousand items that become due together must not become ten thousand requests on the bus. */
const atOnceMax = 16;

/** Items to handle soon. An item that is added again while it waits is handled once. */
export class Backlog<Item> {
  readonly #options: BacklogOptions<Item>;
  readonly #waiting = new Set<Item>();
  readonly #again = new Set<Item>();
  #atOnce = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: BacklogOptions<Item>) {
    this.#options = options;
  }

  add(items: Iterable<Item>): void {
    for (const item of items) {
      this.#waiting.add(item);
      if (this.#atOnce < atOnceMax) void this.#work();
    }
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.clear();
    this.#again.clear();
  }

  async #work(): Promise<void> {
    this.#atOnce++;
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      if (!(await this.#options.work(item))) this.#later(item);
    }
    this.#atOnce--;
  }

  #later(item: Item): void {
    this.#again.add(item);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const items = [...this.#again];
      this.#again.clear();
      this.add(items);
    }, this.#options.againMs).unref();
  }
}
