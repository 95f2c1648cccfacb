/** Does things of the same kind one after the other, things of different kinds at once. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<Result>(kind: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(kind) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(kind, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(kind) === turn) this.#last.delete(kind);
    }
  }

  /** Resolves when all that was begun has ended, however it ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
