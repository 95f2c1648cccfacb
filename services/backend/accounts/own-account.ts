import { SvcError } from '../../contracts/errors.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { findSession, signedOut } from './browser-sessions.ts';

/** A change of the ways to sign in needs a proof of the person that is not older. */
const proofMaxAgeMs = 15 * 60_000;

/** An operator is a program without an account. */
export function requirePerson(principal: TokenPrincipal): UserPrincipal {
  if (principal.kind === 'user') return principal;
  throw new SvcError('forbidden', 'An operator has no account: only a person who is signed in may do this.');
}

export async function getOwnUser(graph: Pick<Graph, 'find'>, { user }: UserPrincipal): Promise<Node<'user'>> {
  const found = await graph.find('user', user, null);
  if (found === null) throw signedOut();
  return found;
}

/** So that an open browser that somebody else finds gives no lasting access. */
export async function requireFreshProof(graph: Pick<Graph, 'find'>, { session }: UserPrincipal): Promise<void> {
  const found = await findSession(graph, session);
  if (found === null) throw signedOut();
  if (Date.now() - found.provenAt <= proofMaxAgeMs) return;
  throw new SvcError('forbidden', 'You signed in too long ago for this change: it needs a sign-in within 15 minutes.', {
    hint: 'Sign in again, then repeat the change.',
  });
}
