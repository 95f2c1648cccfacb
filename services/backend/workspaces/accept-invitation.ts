import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { newId, type UserId } from '../../contracts/ids.ts';
import { parsePersonName } from '../../contracts/names.ts';
import { membersMax } from '../../contracts/workspace-limits.ts';
import { type AccountRoutes, addAccountRoute } from '../accounts/account-route.ts';
import { announceAccount } from '../accounts/announce-account.ts';
import { accessTokenIn } from '../accounts/session-cookies.ts';
import { answerSignedIn, openSession, type SignInNeeds } from '../accounts/sign-in.ts';
import { type ChangeNeeds, changeAs } from '../activity/change.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { parseMemberRole } from '../members/access.ts';
import { ensureUser } from '../members/users.ts';
import type { VerifyToken } from '../tokens/verify-token.ts';
import { findInvitation } from './invitations.ts';

type AcceptNeeds = ChangeNeeds & SignInNeeds & { readonly verifyToken: VerifyToken };

const shown = z.object({ token: z.string().max(200) });
const accepted = shown.extend({ name: z.string().max(200).optional() });

/** `POST /account/invitation` shows an invitation, and `…/invitation/accept` makes its person a member, signed in. */
export function addInvitationRoutes(account: AccountRoutes, backend: AcceptNeeds): void {
  addAccountRoute(account, 'invitation', shown, async ({ body }) => {
    const { invitation, workspace } = await findInvitation(backend, backend.graph, body.token);
    const user = await backend.graph.findBy('user', { email: invitation.email }, null);
    return { workspace: workspace.name, email: invitation.email, role: invitation.role, hasAccount: hasAccount(user) };
  });

  addAccountRoute(account, 'invitation/accept', accepted, async ({ body, ...exchange }) => {
    const current = await currentUser(backend, exchange.request);
    const name = body.name === undefined ? null : parsePersonName(body.name);
    const joined = await changeAs(
      backend,
      async (transaction) => {
        const { invitation, workspace } = await findInvitation(backend, transaction, body.token);
        const user = await personOf(transaction, invitation, { current, name });
        const session = await openSession(transaction, backend, { user, provenBy: 'link', request: exchange.request });
        const principal = { kind: 'user', user: user.id } as const;
        return { workspace, principal, role: parseMemberRole(invitation.role), invitation, user, session };
      },
      async ({ transaction, access, workspace, record }) => {
        const { invitation, user, session } = access;
        await transaction.remove('invitation', invitation.id, workspace);
        const known = await transaction.findBy('member', { user: user.id }, workspace);
        if (known === null) {
          const member = await join(transaction, invitation, user);
          const subject = { subject: member.id, subjectKind: 'member', subjectName: user.email } as const;
          record({ action: 'create', ...subject, changes: { role: { to: invitation.role } } });
        }
        return { user, session };
      },
    );
    announceAccount(backend, joined.user.id);
    return await answerSignedIn(backend, joined, exchange);
  });
}

/** The person who is signed in in this browser, or null. */
async function currentUser(backend: AcceptNeeds, { headers }: FastifyRequest): Promise<UserId | null> {
  const token = accessTokenIn(backend, headers);
  const principal = token === undefined ? null : await backend.verifyToken(token).catch(() => null);
  return principal?.kind === 'user' ? principal.user : null;
}

/**
 * The mail proves the address of a new person. An existing account needs its own proof: an invitation is valid for days
 * and may be passed on, and must not become a key to the account.
 */
async function personOf(
  transaction: Transaction,
  { email }: Node<'invitation'>,
  { current, name }: { readonly current: UserId | null; readonly name: string | null },
): Promise<Node<'user'>> {
  const known = await transaction.findBy('user', { email }, null);
  if (!hasAccount(known)) {
    const user = known ?? (await ensureUser(transaction, email));
    return name === null ? user : await transaction.update('user', user.id, { name }, { anchor: null });
  }
  if (known?.id === current) return known;
  throw new SvcError('forbidden', `The invitation is for ${email}, who has an account already.`, {
    hint: 'Sign in with that address, then open the link again.',
  });
}

function hasAccount(user: Node<'user'> | null): user is Node<'user'> {
  return user !== null && user.signedInAt !== null;
}

async function join(
  transaction: Transaction,
  { workspace, role }: Node<'invitation'>,
  user: Node<'user'>,
): Promise<Node<'member'>> {
  if ((await transaction.count({ type: 'member', anchor: workspace, limit: 1 })) >= membersMax) {
    throw tooMany('members of a workspace', membersMax);
  }
  const member = await transaction.create('member', {
    ...{ id: newId('member'), workspace, user: user.id, role, suspended: false, createdAt: Date.now() },
  });
  await transaction.link({ from: 'member', edge: 'person' }, member.id, [user.id]);
  return member;
}
