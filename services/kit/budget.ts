import { SvcError } from '../contracts/errors.ts';

/** The names of a sender: one for each kind of share, such as its key and its workspace. */
export type Owner<Kind extends string> = Readonly<Record<Kind, string>>;

export interface BudgetOptions<Kind extends string> {
  /** The counted thing, as error messages name it. */
  readonly what: string;
  readonly total: number;
  /** Largest amount one sender of each kind may hold, the narrowest kind first. */
  readonly shares: Readonly<Record<Kind, number>>;
  /** The hint of the error: how a refused sender makes room. */
  readonly hint: string;
}

/**
 * A limited quantity that senders share, such as memory or connections. A sender holds at most its share, and at most
 * as much as then stays free, so that a new sender always gets some.
 */
export class Budget<Kind extends string> {
  readonly #options: BudgetOptions<Kind>;
  readonly #kinds: readonly Kind[];
  readonly #heldBy: Readonly<Record<Kind, Map<string, number>>>;
  #held = 0;

  constructor(options: BudgetOptions<Kind>) {
    this.#options = options;
    this.#kinds = Object.keys(options.shares) as Kind[];
    const heldBy = this.#kinds.map((kind) => [kind, new Map<string, number>()]);
    this.#heldBy = Object.fromEntries(heldBy) as Record<Kind, Map<string, number>>;
  }

  get held(): number {
    return this.#held;
  }

  isSame(one: Owner<Kind>, other: Owner<Kind>): boolean {
    return this.#kinds.every((kind) => one[kind] === other[kind]);
  }

  hasRoom(owner: Owner<Kind>, amount: number): boolean {
    return this.#shortage(owner, amount) === null;
  }

  /**
   * Throws `rate_limited` when the owner's share is used up, and `unavailable` when too little is left for all owners.
   */
  check(owner: Owner<Kind>, amount: number): void {
    const shortage = this.#shortage(owner, amount);
    if (shortage !== null) throw this.#refusal(shortage);
  }

  /** Throws as `check` does. */
  take(owner: Owner<Kind>, amount: number): void {
    this.check(owner, amount);
    this.#change(owner, amount);
  }

  give(owner: Owner<Kind>, amount: number): void {
    this.#change(owner, -amount);
  }

  /** Throws as `check` does. */
  hold(owner: Owner<Kind>, amount: number): Held<Kind> {
    const held = new Held(this, owner);
    held.resize(amount);
    return held;
  }

  #shortage(owner: Owner<Kind>, amount: number): Kind | 'total' | null {
    const { total, shares } = this.#options;
    const free = total - this.#held - amount;
    for (const kind of this.#kinds) {
      const own = this.#heldOf(owner, kind) + amount;
      if (own > shares[kind]) return kind;
      if (own > free) return 'total';
    }
    return null;
  }

  #heldOf(owner: Owner<Kind>, kind: Kind): number {
    return this.#heldBy[kind].get(owner[kind]) ?? 0;
  }

  #change(owner: Owner<Kind>, amount: number): void {
    this.#held += amount;
    for (const kind of this.#kinds) {
      const own = this.#heldOf(owner, kind) + amount;
      if (own > 0) this.#heldBy[kind].set(owner[kind], own);
      else this.#heldBy[kind].delete(owner[kind]);
    }
  }

  #refusal(shortage: Kind | 'total'): SvcError {
    const { what, total, shares, hint } = this.#options;
    if (shortage !== 'total') {
      const message = `This ${shortage} may hold at most ${shares[shortage]} ${what} at once.`;
      return new SvcError('rate_limited', message, { hint });
    }
    const message = `All senders together hold nearly all of the ${total} ${what}.`;
    return new SvcError('unavailable', message, { hint: 'Try again shortly.' });
  }
}

/** The amount an owner holds until it is released. */
export class Held<Kind extends string = string> {
  readonly #budget: Budget<Kind>;
  readonly #owner: Owner<Kind>;
  #amount = 0;

  constructor(budget: Budget<Kind>, owner: Owner<Kind>) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Throws as `Budget.check` does; the held amount then stays unchanged. */
  resize(amount: number): void {
    if (amount === this.#amount) return;
    if (amount > this.#amount) this.#budget.take(this.#owner, amount - this.#amount);
    else this.#budget.give(this.#owner, this.#amount - amount);
    this.#amount = amount;
  }

  /** Idempotent. */
  release(): void {
    this.resize(0);
  }
}
