import { SvcError } from '../../contracts/errors.ts';
import { Failures, waitInWords } from '../limits/failures.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

/** A person finds a free name within a few tries. A list of names of other organisations takes many more. */
const limit = { max: 20, periodMs: 60 * 60_000 };

/** The names that a person may try for workspaces, in this process. Names are unique over all workspaces, so a refusal tells of one. */
export class NameTries {
  readonly #taken = new Failures(limit);
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Counts the try if `give` throws `conflict`. Throws `rate_limited` once too many names were taken. Operators see all names. */
  async try<Result>(principal: TokenPrincipal, give: () => Promise<Result>): Promise<Result> {
    if (principal.kind === 'operator') return await give();
    const { user } = principal;
    const now = this.#now();
    const waitMs = this.#taken.waitMs(user, now);
    if (waitMs > 0) throw tooMany(waitMs);
    // A try counts from its beginning, so that many at the same moment are limited too.
    this.#taken.add(user, now);
    try {
      const result = await give();
      this.#taken.remove(user, now);
      return result;
    } catch (thrown) {
      if (!(thrown instanceof SvcError && thrown.code === 'conflict')) this.#taken.remove(user, now);
      throw thrown;
    }
  }
}

function tooMany(waitMs: number): SvcError {
  return new SvcError('rate_limited', `Too many of the names were taken. Try again in ${waitInWords(waitMs)}.`, {
    hint: 'A name with the word of your team or organisation is more likely free.',
  });
}

export interface WithNameTries {
  readonly nameTries: NameTries;
}
