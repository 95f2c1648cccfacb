/** Runs a limited number of tasks at once, in the order of their requests. Callers bound how many wait. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  readonly #atOnce: number;
  #free: number;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#free = atOnce;
  }

  get isIdle(): boolean {
    return this.#free === this.#atOnce;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Slots for each name. A name without a running task is forgotten. */
export class SlotsByName {
  readonly #slots = new Map<string, Slots>();
  readonly #atOnce: number;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const slots = this.#slots.get(name) ?? new Slots(this.#atOnce);
    this.#slots.set(name, slots);
    try {
      return await slots.run(work);
    } finally {
      if (slots.isIdle) this.#slots.delete(name);
    }
  }
}
