import { SvcError } from '../../contracts/errors.ts';
import { BoundedMap } from '../../kit/bounded-map.ts';
import { siteOf } from '../../kit/network-of.ts';

export interface AllowanceRule {
  /** The counted thing, as the error names it. */
  readonly what: string;
  readonly most: number;
  readonly periodMs: number;
}

interface Used {
  count: number;
  readonly until: number;
}

/** Flooding addresses beyond these forget the oldest. */
const addressesMax = 10_000;

/** A customer with a /48 has as much as this many others, not as much as 65,536. */
const networksOfSite = 8;

/** Limits how often each client address does something that leaves a record. */
export class Allowance {
  readonly #rule: AllowanceRule;
  readonly #used = new BoundedMap<Used>(addressesMax);

  constructor(rule: AllowanceRule) {
    this.#rule = rule;
  }

  /** Throws `rate_limited` when the address, or the /48 around it, has used its allowance of this period. */
  use(address: string, now = performance.now()): void {
    const site = siteOf(address);
    const both = [[address, this.#rule.most] as const];
    if (site !== null) both.push([site, this.#rule.most * networksOfSite]);
    const counted = both.map(([name, most]) => [name, this.#left(name, most, now)] as const);
    for (const [name, used] of counted) {
      used.count++;
      this.#used.set(name, used);
    }
  }

  #left(name: string, most: number, now: number): Used {
    const { what, periodMs } = this.#rule;
    const known = this.#used.get(name);
    const used = known === undefined || known.until <= now ? { count: 0, until: now + periodMs } : known;
    if (used.count < most) return used;
    throw new SvcError(
      'rate_limited',
      `Too many ${what} from this address: at most ${most} in ${periodMs / 60_000} min.`,
      { hint: 'Try again later.' },
    );
  }
}
