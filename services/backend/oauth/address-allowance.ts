import { SvcError } from '../../contracts/errors.ts';
import { BoundedMap } from '../../kit/bounded-map.ts';

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

/** Limits how often each client address does something that leaves a record. */
export class AddressAllowance {
  readonly #rule: AllowanceRule;
  readonly #used = new BoundedMap<Used>(addressesMax);

  constructor(rule: AllowanceRule) {
    this.#rule = rule;
  }

  /** Throws `rate_limited` when the address has used its allowance of this period. */
  use(address: string, now = performance.now()): void {
    const { what, most, periodMs } = this.#rule;
    const known = this.#used.get(address);
    const used = known === undefined || known.until <= now ? { count: 0, until: now + periodMs } : known;
    if (used.count >= most) {
      throw new SvcError(
        'rate_limited',
        `Too many ${what} from this address: at most ${most} in ${periodMs / 60_000} min.`,
        {
          hint: 'Try again later.',
        },
      );
    }
    used.count++;
    this.#used.set(address, used);
  }
}
