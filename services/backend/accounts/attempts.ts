import { createHash } from 'node:crypto';
import { BoundedMap } from '../../kit/bounded-map.ts';
import { HttpRefusal } from '../../kit/http/http-refusal.ts';

const minuteMs = 60_000;
/**
 * Failures that are allowed in a period. One network's are counted for the account and in all, so a stranger elsewhere
 * does not lock a person out. The account's total ends a guess from many networks.
 */
const limits = {
  accountFromNetwork: { max: 10, periodMs: 15 * minuteMs },
  account: { max: 100, periodMs: 60 * minuteMs },
  network: { max: 100, periodMs: 15 * minuteMs },
} as const;
/** More than two processors can verify in an hour. */
const namesMax = 65_536;

export interface Attempted {
  /** Each is counted apart, so that a flood of one leaves the others open. */
  readonly what: 'password' | 'passkey' | 'link';
  /** The address or passkey that somebody claims to have. It need not exist. */
  readonly account: string;
  readonly network: string;
}

/** An attempt counts as a failure from its beginning, so that many at the same moment are limited too. */
export interface Attempt {
  /** The right person: its failures from here are forgotten. */
  succeed(): void;
  /** Nothing was verified. */
  withdraw(): void;
}

/** Limits the attempts to prove a person, in this process. */
export class Attempts {
  readonly #accountFromNetwork = new Failures(limits.accountFromNetwork);
  readonly #account = new Failures(limits.account);
  readonly #network = new Failures(limits.network);
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Throws `rate_limited` with the time of the next attempt. */
  begin({ what, account, network }: Attempted): Attempt {
    const now = this.#now();
    const both = nameOf(what, network, account);
    const counted = [
      [this.#accountFromNetwork, both],
      [this.#account, nameOf(what, account)],
      [this.#network, nameOf(what, network)],
    ] as const;
    const waitMs = Math.max(...counted.map(([failures, name]) => failures.waitMs(name, now)));
    if (waitMs > 0) throw tooMany(waitMs);
    for (const [failures, name] of counted) failures.add(name, now);
    const withdraw = () => {
      for (const [failures, name] of counted) failures.remove(name, now);
    };
    return {
      withdraw,
      succeed: () => {
        withdraw();
        this.#accountFromNetwork.forget(both);
      },
    };
  }
}

/** Short, whatever a stranger sent. */
function nameOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

interface Limit {
  readonly max: number;
  readonly periodMs: number;
}

/** The times of failures by name. The name that failed least recently is forgotten first. */
class Failures {
  readonly #limit: Limit;
  readonly #times = new BoundedMap<readonly number[]>(namesMax);

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** The time until the next attempt; 0 if it may be now. */
  waitMs(name: string, now: number): number {
    const { max, periodMs } = this.#limit;
    const deciding = this.#recent(name, now).at(-max);
    return deciding === undefined ? 0 : deciding + periodMs - now;
  }

  add(name: string, now: number): void {
    this.#times.set(name, [...this.#recent(name, now), now]);
  }

  remove(name: string, at: number): void {
    const times = this.#times.get(name) ?? [];
    const left = times.toSpliced(times.indexOf(at), times.includes(at) ? 1 : 0);
    if (left.length === 0) this.forget(name);
    else this.#times.set(name, left);
  }

  forget(name: string): void {
    this.#times.delete(name);
  }

  #recent(name: string, now: number): readonly number[] {
    const since = now - this.#limit.periodMs;
    return (this.#times.get(name) ?? []).filter((at) => at > since);
  }
}

function tooMany(waitMs: number): HttpRefusal {
  const seconds = Math.ceil(waitMs / 1000);
  const inWords = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new HttpRefusal('rate_limited', `Too many sign-ins have failed. Try again in ${inWords}.`, {
    ...{ status: 429, headers: ['retry-after', String(seconds)] },
    hint: 'A link by mail, or from an operator, signs you in meanwhile.',
  });
}

export interface WithAttempts {
  readonly attempts: Attempts;
}
