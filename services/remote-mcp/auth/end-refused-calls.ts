import { SvcError } from '../../contracts/errors.ts';
import type { CallUnderWay } from '../sessions/call-under-way.ts';
import type { Session } from '../sessions/session.ts';
import type { Principals } from './principals.ts';
import { refuseSuspended } from './refusals.ts';

type Checks = Pick<Principals, 'authenticate'>;

/** Ends the calls of these sessions whose key is not good any more. */
export function endRefusedCalls(checks: Checks, sessions: Iterable<Session>): void {
  for (const { calls } of sessions) for (const call of calls?.values() ?? []) void recheck(checks, call);
}

/** Where the key can't be checked now it may well be good, and the call goes on. */
async function recheck(checks: Checks, call: CallUnderWay): Promise<void> {
  try {
    refuseSuspended(await checks.authenticate(call.authorization));
  } catch (thrown) {
    if (thrown instanceof SvcError && (thrown.code === 'unauthenticated' || thrown.code === 'forbidden'))
      call.end(thrown);
  }
}
