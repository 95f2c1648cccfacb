import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { AccountRequest } from './account-route.ts';
import { findSession, readRefreshToken } from './browser-sessions.ts';
import { refreshTokenIn } from './session-cookies.ts';
import { type SignInNeeds, signIn } from './sign-in.ts';
import { readLink } from './sign-in-links.ts';

export const linkShape = z.object({
  token: z.string().max(200),
  /** Whether the person of the link may replace somebody else who is signed in. */
  replaces: z.boolean().optional(),
});

/** Throws `conflict` for a browser of another person, and the link stays valid. */
export async function signInWithLink(
  backend: SignInNeeds,
  { body: { token, replaces = false }, ...exchange }: AccountRequest<z.infer<typeof linkShape>>,
) {
  const useLink = readLink(backend, token);
  const find = async (transaction: Transaction) => {
    const user = await useLink(transaction);
    if (!replaces) await refuseOther(transaction, user, { backend, headers: exchange.request.headers });
    return user;
  };
  return await signIn(backend, { provenBy: 'link', find }, exchange);
}

/** Somebody may have sent the link to make a person work in a foreign account. */
async function refuseOther(
  transaction: Transaction,
  user: Node<'user'>,
  { backend, headers }: { readonly backend: SignInNeeds; readonly headers: IncomingHttpHeaders },
): Promise<void> {
  const names = readRefreshToken(backend, refreshTokenIn(backend, headers) ?? '');
  const session = names === null ? null : await findSession(transaction, names.id);
  if (session === null || session.user === user.id) return;
  const present = await transaction.find('user', parseId('user', session.user), null);
  if (present === null) return;
  throw new SvcError('conflict', `You are signed in as ${present.email}, and the link is for ${user.email}.`);
}
