import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { announceAccount } from './announce-account.ts';
import { endOtherSessions, endSession } from './browser-sessions.ts';
import { requirePerson } from './own-account.ts';

/** Ends a session of the caller, also the present one. Another person's session does not exist for the caller. */
export async function endOwnSession(
  backend: WithGraph & WithBus,
  principal: TokenPrincipal,
  { id }: { readonly id: string },
): Promise<void> {
  const { user } = requirePerson(principal);
  const session = await backend.graph.find('browserSession', parseId('browserSession', id), null);
  if (session?.user !== user) throw new SvcError('not_found', `You have no session "${id}".`);
  await endSession(backend, session.id);
}

export async function endAllOtherSessions(backend: WithGraph & WithBus, principal: TokenPrincipal): Promise<void> {
  const person = requirePerson(principal);
  await backend.graph.write((transaction) => endOtherSessions(transaction, person));
  announceAccount(backend, person.user);
}
