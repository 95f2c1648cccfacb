import { SvcError } from '../../contracts/errors.ts';
import { Backlog } from '../bus/backlog.ts';
import type { Principals } from './principals.ts';
import { refuseSuspended } from './refusals.ts';

/** What a key has let in and goes on: a stream, or a call. */
export interface Admitted {
  /** The header that the key came in. */
  readonly authorization: string | undefined;
  readonly isOver: boolean;
  end(why: SvcError): void;
}

/** While the backend is away keys can't be checked, and may well be good: what they let in goes on until it is back. */
const againMs = 5000;

/** Ends what was let in by a key that is not good any more. */
export class Rechecks extends Backlog<Admitted> {
  constructor(checks: Pick<Principals, 'authenticate'>) {
    super({ againMs, work: (admitted) => recheck(checks, admitted) });
  }
}

async function recheck(checks: Pick<Principals, 'authenticate'>, admitted: Admitted): Promise<boolean> {
  if (admitted.isOver) return true;
  try {
    refuseSuspended(await checks.authenticate(admitted.authorization));
    return true;
  } catch (thrown) {
    if (!(thrown instanceof SvcError) || (thrown.code !== 'unauthenticated' && thrown.code !== 'forbidden'))
      return false;
    admitted.end(thrown);
    return true;
  }
}
