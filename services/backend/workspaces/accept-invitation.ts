import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import type { UserId } from '../../contracts/ids.ts';
import { parsePersonName } from '../../contracts/names.ts';
import { type AccountRoutes, addAccountRoute } from '../accounts/account-route.ts';
import { announceAccount } from '../accounts/announce-account.ts';
import { answerSignedIn, openSession, type SignInNeeds } from '../accounts/sign-in.ts';
import { findSignedIn } from '../accounts/signed-in-person.ts';
import { type ChangeNeeds, changeAs } from '../activity/change.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { parseMemberRole } from '../members/access.ts';
import { createMember } from '../members/create-member.ts';
import { requireRoomToOwn } from '../members/require-room-to-own.ts';
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
    const { email, role } = invitation;
    return { workspace: workspace.name, email, role: parseMemberRole(role), hasAccount: hasAccount(user) };
  });

  addAccountRoute(account, 'invitation/accept', accepted, async ({ body, ...exchange }) => {
    // A stranger's false or used token never waits among the writers.
    await findInvitation(backend, backend.graph, body.token);
    const current = await findSignedIn(backend, exchange.request.headers);
    const name = body.name === undefined ? null : parsePersonName(body.name);
    const joined = await changeAs(
      backend,
      async (transaction) => {
        const { invitation, workspace } = await findInvitation(backend, transaction, body.token);
        const user = await personOf(transaction, invitation, { current: current?.user ?? null, name });
        const session = await openSession(transaction, backend, { user, provenBy: 'link', request: exchange.request });
        const principal = { kind: 'user', user: user.id } as const;
        return { workspace, principal, role: parseMemberRole(invitation.role), invitation, user, session };
      },
      async ({ transaction, access, workspace, record }) => {
        const { invitation, user, session } = access;
        await transaction.remove('invitation', invitation.id, workspace);
        const known = await transaction.findBy('member', { user: user.id }, workspace);
        if (known === null) {
          if (access.role === 'owner') await requireRoomToOwn(transaction, user.id);
          const member = await createMember(transaction, { workspace, user: user.id, role: access.role });
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
