import type { SvcError } from '../../services/contracts/errors.ts';

/** Another program took a port first. The same start may succeed on another port. */
export class LostPort extends Error {
  readonly reason: SvcError;

  constructor(reason: SvcError) {
    super(reason.message, { cause: reason });
    this.reason = reason;
  }
}
