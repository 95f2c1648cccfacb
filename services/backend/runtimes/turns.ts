/** Runs tasks of the same kind one after the other, and tasks of different kinds concurrently. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #queued = new Map<string, number>();

  async take<Result>(kind: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(kind) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(kind, turn);
    this.#queued.set(kind, this.queued(kind) + 1);
    try {
      return await turn;
    } finally {
      if (this.#last.get(kind) === turn) this.#last.delete(kind);
      const left = this.queued(kind) - 1;
      if (left === 0) this.#queued.delete(kind);
      else this.#queued.set(kind, left);
    }
  }

  /** Running and waiting tasks of the kind. */
  queued(kind: string): number {
    return this.#queued.get(kind) ?? 0;
  }

  /** Resolves when all started tasks have ended, with success or not. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
