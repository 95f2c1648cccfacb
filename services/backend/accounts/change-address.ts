import { z } from 'zod';
import { parseEmail } from '../../contracts/email-address.ts';
import { SvcError } from '../../contracts/errors.ts';
import { id } from '../../contracts/id-schema.ts';
import { Secret } from '../../contracts/secret.ts';
import type { WithBus, WithConfig } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { addressChanged, addressLink } from '../mail/letters.ts';
import type { WithMail } from '../mail/mail-sender.ts';
import { queueMail } from '../mail/queue-mail.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { readSignedText, signText } from '../secrets/signed-text.ts';
import type { TokenPrincipal, UserPrincipal, VerifyToken } from '../tokens/verify-token.ts';
import type { AccountRequest } from './account-route.ts';
import { findSession } from './browser-sessions.ts';
import { announcePerson } from './change-name.ts';
import { getOwnUser, requireFreshProof, requirePerson } from './own-account.ts';
import { removeLinks } from './sign-in-links.ts';
import { findSignedIn } from './signed-in-person.ts';

const hourMs = 60 * 60_000;
const validMs = hourMs;
/** A person mistypes an address a few times. More would make the platform a sender of mail to strangers. */
const linksPerHour = 5;

export const addressShape = z.object({ token: z.string().max(1000) });

export type AddressNeeds = WithGraph &
  WithBus &
  WithSecrets &
  WithMail &
  WithConfig<'PUBLIC_FRONTEND_URL' | 'PUBLIC_BACKEND_URL'> & { readonly verifyToken: VerifyToken };

/** The session that asked, the address it had and the new one, and the end of the link. */
const asked = z.tuple([id('browserSession'), z.string(), z.string(), z.number()]);

/** Sends a link to the new address. The account keeps its address until the person opens the link. */
export async function sendAddressLink(backend: AddressNeeds, principal: TokenPrincipal, text: string): Promise<void> {
  const person = requirePerson(principal);
  const email = parseEmail(text);
  await requireFreshProof(backend.graph, person);
  await backend.graph.write(async (transaction) => {
    const user = await getOwnUser(transaction, person);
    if (user.email === email) throw new SvcError('conflict', `Your account has the address "${email}" already.`);
    await requireFewLinks(transaction, person);
    const expiresAt = Date.now() + validMs;
    const token = signAsked(backend, [person.session, user.email, email, expiresAt]);
    const link = new Secret(`${backend.config.PUBLIC_FRONTEND_URL}/confirm-address#token=${token}`);
    const mail = { kind: 'address', to: email, workspace: null, author: null, sender: person.user } as const;
    await queueMail(backend, transaction, { ...mail, letter: addressLink({ link, expiresAt }), expiresAt });
  });
  backend.mailSender.wake();
}

/** Records of sent mail stay for an hour. */
async function requireFewLinks(transaction: Transaction, { user }: UserPrincipal): Promise<void> {
  const where = [{ field: 'source', equals: user }] as const;
  const last = { type: 'mail', anchor: null, where, descending: true, limit: linksPerHour } as const;
  const { nodes } = await transaction.select(last);
  if (nodes.filter(({ createdAt }) => createdAt > Date.now() - hourMs).length < linksPerHour) return;
  throw new SvcError('rate_limited', `${linksPerHour} links to new addresses were sent for you within an hour.`, {
    hint: 'Try again in an hour.',
  });
}

/**
 * Changes the address. The link proves the address and not the person: a mistyped one is somebody else's. So the person
 * must be signed in, and the session that asked must not have been ended, for example by a new password.
 */
export async function confirmAddress(
  backend: AddressNeeds,
  { body, request }: AccountRequest<z.infer<typeof addressShape>>,
): Promise<{ readonly email: string }> {
  const [session, before, email, expiresAt] = readAsked(backend, body.token) ?? noLongerValid();
  if (expiresAt <= Date.now()) noLongerValid();
  const current = await findSignedIn(backend, request.headers);
  if (current === null) {
    throw new SvcError('unauthenticated', 'You are not signed in.', { hint: 'Sign in, then open the link again.' });
  }
  await backend.graph.write(async (transaction) => {
    const owner = await findSession(transaction, session);
    if (owner === null) noLongerValid();
    if (owner.user !== current.user) {
      throw new SvcError('forbidden', 'The link is for another account than the one that you are signed in to.', {
        hint: 'Sign in to the account that asked for it, then open the link again.',
      });
    }
    const user = await getOwnUser(transaction, current);
    if (user.email !== before) noLongerValid();
    await writeAddress(backend, transaction, { user, email });
  });
  backend.mailSender.wake();
  await announcePerson(backend, current);
  return { email };
}

async function writeAddress(
  backend: AddressNeeds,
  transaction: Transaction,
  { user, email }: { readonly user: Node<'user'>; readonly email: string },
): Promise<void> {
  if ((await transaction.findBy('user', { email }, null)) !== null) {
    throw new SvcError('conflict', `Another account has the address "${email}".`, {
      hint: 'Sign in to that account, or use another address.',
    });
  }
  await transaction.update('user', user.id, { email }, { anchor: null });
  // They were sent to the address before.
  await removeLinks(backend, transaction, user);
  const link = new Secret(`${backend.config.PUBLIC_FRONTEND_URL}/sign-in`);
  const mail = { kind: 'notice', to: user.email, workspace: null, author: null } as const;
  const letter = addressChanged({ to: email, link });
  await queueMail(backend, transaction, { ...mail, letter, expiresAt: Date.now() + 24 * hourMs });
}

function signAsked(backend: WithSecrets, names: z.infer<typeof asked>): string {
  return signText(backend, 'new address', Buffer.from(JSON.stringify(names)).toString('base64url'));
}

function readAsked(backend: WithSecrets, token: string): z.infer<typeof asked> | null {
  const text = readSignedText(backend, 'new address', token);
  return text === null ? null : asked.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
}

function noLongerValid(): never {
  throw new SvcError('unauthenticated', 'The link is not valid: it was used, has expired, or is incomplete.', {
    hint: 'Ask for a new one: Profile > Account.',
  });
}
