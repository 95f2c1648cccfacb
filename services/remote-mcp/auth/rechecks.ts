import { SvcError } from '../../contracts/errors.ts';
import { Backlog } from '../bus/backlog.ts';
import type { Principals } from './principals.ts';
import { refuseSuspended } from './refusals.ts';

/** An open stream or call of a key. */
export interface Admitted {
  /** The Authorization header with the key. */
  readonly authorization: string | undefined;
  readonly isOver: boolean;
  end(why: SvcError): void;
}

/** While the backend is away, keys cannot be checked. Their streams and calls continue until it returns. */
const againMs = 5000;

/** Ends the streams and calls of keys that are no longer valid. */
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
