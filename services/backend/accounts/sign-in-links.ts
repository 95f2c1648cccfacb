import { parseEmail } from '../../contracts/email-address.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, newId, parseId, type SignInLinkId, type UserId } from '../../contracts/ids.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import { type Node, pageMax, type Transaction, type WithGraph } from '../graph/graph.ts';
import { withdrawMail } from '../mail/queue-mail.ts';
import { requireOperator } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { readSignedText, signText } from '../secrets/signed-text.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

const validMs = 60 * 60_000;
/** A further one ends the oldest. Strangers can ask for five an hour by mail, which leaves five to operators. */
const linksPerUserMax = 10;

export interface SignInLink {
  readonly email: string;
  readonly url: string;
  readonly expiresAt: number;
}

type LinkNeeds = WithSecrets & WithConfig<'PUBLIC_FRONTEND_URL'>;

/** For operators: a link that signs a known person in, once. */
export async function createSignInLink(
  backend: LinkNeeds & WithGraph,
  principal: TokenPrincipal,
  email: string,
): Promise<SignInLink> {
  requireOperator(principal, 'make a sign-in link');
  const address = parseEmail(email);
  return await backend.graph.write(async (transaction) => {
    const user = await transaction.findBy('user', { email: address }, null);
    if (user === null) {
      throw new SvcError('not_found', `There is no person with the address "${address}".`, {
        hint: 'svc user list shows the members of a workspace.',
      });
    }
    return await addLink(transaction, backend, user);
  });
}

export async function addLink(transaction: Transaction, backend: LinkNeeds, user: Node<'user'>): Promise<SignInLink> {
  const links = await linksOf(transaction, user.id);
  for (const { id } of links.slice(0, Math.max(0, links.length - linksPerUserMax + 1))) {
    await transaction.remove('signInLink', id, null);
  }
  const now = Date.now();
  const link = { id: newId('signInLink'), user: user.id, expiresAt: now + validMs, createdAt: now };
  await transaction.create('signInLink', link);
  return { email: user.email, url: urlOf(backend, link.id), expiresAt: link.expiresAt };
}

/** With those whose mail still waits. */
export async function removeLinks(
  backend: WithSecrets,
  transaction: Transaction,
  { id: user, email: to }: Node<'user'>,
): Promise<void> {
  for (const { id } of await linksOf(transaction, user)) await transaction.remove('signInLink', id, null);
  await withdrawMail(backend, transaction, { kind: 'sign-in', to, workspace: null });
}

async function linksOf(transaction: Transaction, user: UserId): Promise<readonly Node<'signInLink'>[]> {
  const where = [{ field: 'user', equals: user }] as const;
  return (await transaction.select({ type: 'signInLink', anchor: null, where, limit: pageMax })).nodes;
}

/** The token is in the fragment, which browsers send to no server. So no log contains it. */
function urlOf(backend: LinkNeeds, id: SignInLinkId): string {
  return `${backend.config.PUBLIC_FRONTEND_URL}/sign-in#token=${signText(backend, 'sign-in link', id)}`;
}

/**
 * Reads the token of a link. The result removes the link and returns its person. Both throw `unauthenticated` without
 * saying why.
 */
export function readLink(backend: WithSecrets, token: string): (transaction: Transaction) => Promise<Node<'user'>> {
  const id = findId('signInLink', readSignedText(backend, 'sign-in link', token) ?? '');
  if (id === null) throw noLongerValid();
  return (transaction) => useLink(transaction, id);
}

async function useLink(transaction: Transaction, id: SignInLinkId): Promise<Node<'user'>> {
  const link = await transaction.find('signInLink', id, null);
  if (link === null || link.expiresAt <= Date.now()) throw noLongerValid();
  await transaction.remove('signInLink', link.id, null);
  const user = await transaction.find('user', parseId('user', link.user), null);
  if (user === null) throw noLongerValid();
  return user;
}

function noLongerValid(): SvcError {
  return new SvcError('unauthenticated', 'The link is not valid: it was used, has expired, or is incomplete.', {
    hint: 'Ask for a new one. On the machine of the platform: svc open',
  });
}
