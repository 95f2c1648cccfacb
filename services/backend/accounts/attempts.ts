import { createHash } from 'node:crypto';
import { HttpRefusal } from '../../kit/http/http-refusal.ts';
import { siteOf } from '../../kit/network-of.ts';
import { Failures, waitInWords } from '../limits/failures.ts';

const minuteMs = 60_000;
/**
 * Failures that are allowed in a period. One network's are counted for the account and in all, so a stranger elsewhere
 * does not lock a person out. The account's total ends a guess from many networks.
 */
const limits = {
  accountFromNetwork: { max: 10, periodMs: 15 * minuteMs },
  account: { max: 100, periodMs: 60 * minuteMs },
  network: { max: 100, periodMs: 15 * minuteMs },
  /** One customer may have every /64 of a /48. */
  site: { max: 800, periodMs: 15 * minuteMs },
} as const;

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
  readonly #site = new Failures(limits.site);
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Throws `rate_limited` with the time of the next attempt. */
  begin({ what, account, network }: Attempted): Attempt {
    const now = this.#now();
    const both = nameOf(what, network, account);
    const site = siteOf(network);
    const counted: (readonly [Failures, string])[] = [
      [this.#accountFromNetwork, both],
      [this.#account, nameOf(what, account)],
      [this.#network, nameOf(what, network)],
    ];
    if (site !== null) counted.push([this.#site, nameOf(what, site)]);
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

function tooMany(waitMs: number): HttpRefusal {
  const seconds = Math.ceil(waitMs / 1000);
  return new HttpRefusal('rate_limited', `Too many sign-ins have failed. Try again in ${waitInWords(waitMs)}.`, {
    ...{ status: 429, headers: ['retry-after', String(seconds)] },
    hint: 'A link by mail, or from an operator, signs you in meanwhile.',
  });
}

export interface WithAttempts {
  readonly attempts: Attempts;
}
