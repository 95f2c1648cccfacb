import { parseEmail } from '../../contracts/email-address.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, newId, parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { isAtLeast, type MemberRole } from '../../contracts/member-roles.ts';
import { Secret } from '../../contracts/secret.ts';
import { invitationsMax } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';
import { invitation as invitationLetter } from '../mail/letters.ts';
import type { WithMail } from '../mail/mail-sender.ts';
import { queueMail, withdrawMail } from '../mail/queue-mail.ts';
import { allows, parseMemberRole, requireRank } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { readSignedText, signText } from '../secrets/signed-text.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

const dayMs = 24 * 60 * 60_000;
const validMs = 7 * dayMs;

type LinkNeeds = WithSecrets & WithConfig<'PUBLIC_FRONTEND_URL'>;
type InvitationNeeds = ChangeNeeds & LinkNeeds & WithMail;

interface InvitationRequest {
  readonly principal: TokenPrincipal;
  readonly workspace: WorkspaceId;
}

/**
 * Invites a person by mail. The mail proves the address, so nobody becomes a member under the address of somebody else.
 * Another invitation of the same address replaces the one before.
 */
export async function invite(
  backend: InvitationNeeds,
  request: InvitationRequest,
  input: { readonly email: string; readonly role: MemberRole },
): Promise<Node<'invitation'>> {
  const email = parseEmail(input.email);
  const invited = await change(backend, { ...request, right: 'administer' }, async (change) => {
    const { transaction, workspace, access, record } = change;
    requireRank(access, input.role);
    await requireNoMember(change, email);
    const before = await transaction.findBy('invitation', { email }, workspace);
    if (before !== null) requireRank(access, parseMemberRole(before.role));
    if (before !== null) await removeInvitation(backend, transaction, before);
    else await requireRoom(change);
    const createdAt = Date.now();
    const made = {
      id: newId('invitation'),
      workspace,
      email,
      role: input.role,
      invitedBy: access.principal.kind === 'user' ? access.principal.user : null,
      createdAt,
      expiresAt: createdAt + validMs,
    };
    const invitation = await transaction.create('invitation', made);
    const letter = invitationLetter({
      ...{ workspace: access.workspace.name, inviter: await nameOf(change) },
      ...{ link: new Secret(invitationUrl(backend, invitation)), expiresAt: made.expiresAt },
    });
    await queueMail(backend, transaction, {
      kind: 'invitation',
      to: email,
      letter,
      workspace,
      author: made.invitedBy,
      expiresAt: made.expiresAt,
    });
    const subject = { subject: invitation.id, subjectKind: 'invitation', subjectName: email } as const;
    record({ action: 'create', ...subject, changes: { role: { to: input.role } } });
    return invitation;
  });
  backend.mailSender.wake();
  return invited;
}

/** Its link no longer works. Idempotent. */
export async function withdrawInvitation(
  backend: ChangeNeeds & WithSecrets,
  request: InvitationRequest,
  named: string,
): Promise<void> {
  const id = parseId('invitation', named);
  await change(backend, { ...request, right: 'administer' }, async ({ transaction, workspace, record }) => {
    const invitation = await transaction.find('invitation', id, workspace);
    if (invitation === null) throw new SvcError('not_found', `There is no invitation "${id}".`);
    await removeInvitation(backend, transaction, invitation);
    record({ action: 'remove', subject: id, subjectKind: 'invitation', subjectName: invitation.email, changes: {} });
  });
}

/** Its mail is not sent any more, for example to a mistyped address. */
async function removeInvitation(
  backend: WithSecrets,
  transaction: Transaction,
  { id, email, workspace }: Node<'invitation'>,
): Promise<void> {
  await transaction.remove('invitation', id, workspace);
  await withdrawMail(backend, transaction, { kind: 'invitation', to: email, workspace });
}

/** The token is in the fragment, which browsers send to no server. So no log contains it. */
export function invitationUrl(backend: LinkNeeds, { id }: Pick<Node<'invitation'>, 'id'>): string {
  return `${backend.config.PUBLIC_FRONTEND_URL}/invitation#token=${signText(backend, 'invitation', id)}`;
}

/** The invitation of a token, with its open workspace. Throws `unauthenticated` without saying why. */
export async function findInvitation(
  backend: WithSecrets,
  graph: Pick<Graph, 'find' | 'findBy'>,
  token: string,
): Promise<{ readonly invitation: Node<'invitation'>; readonly workspace: Node<'workspace'> }> {
  const id = findId('invitation', readSignedText(backend, 'invitation', token) ?? '');
  // The token leads to the workspace.
  const invitation = id === null ? null : await graph.find('invitation', id, 'everywhere');
  if (invitation === null || invitation.expiresAt <= Date.now()) throw noLongerValid();
  const workspace = await graph.find('workspace', invitation.workspace, null);
  // A workspace that is being removed is suspended too.
  if (workspace === null || workspace.suspended) throw noLongerValid();
  await requireInviter(graph, invitation);
  return { invitation, workspace };
}

/** An invitation gives no right that its inviter has lost. */
async function requireInviter(graph: Pick<Graph, 'find' | 'findBy'>, invitation: Node<'invitation'>): Promise<void> {
  const { invitedBy: user, workspace } = invitation;
  if (user === null) return;
  const member = await graph.findBy('member', { user }, workspace);
  const role = member === null || member.suspended ? null : parseMemberRole(member.role);
  if (role !== null && allows(role, 'administer') && isAtLeast(role, parseMemberRole(invitation.role))) return;
  throw noLongerValid();
}

function noLongerValid(): SvcError {
  return new SvcError('unauthenticated', 'The invitation is not valid: it was used, withdrawn, or has expired.', {
    hint: 'Ask the person who invited you for another one. It is valid for seven days.',
  });
}

async function requireNoMember({ transaction, access }: Change, email: string): Promise<void> {
  const { workspace } = access;
  const user = await transaction.findBy('user', { email }, null);
  const member = user === null ? null : await transaction.findBy('member', { user: user.id }, workspace.id);
  if (member === null) return;
  throw new SvcError('conflict', `"${email}" is a member of the workspace "${workspace.name}" already.`, {
    hint: 'Change the role of the member instead.',
  });
}

async function requireRoom({ transaction, workspace }: Change): Promise<void> {
  const count = await transaction.count({ type: 'invitation', anchor: workspace, limit: 1 });
  if (count < invitationsMax) return;
  throw tooMany('open invitations of a workspace', invitationsMax, {
    hint: 'Withdraw those that are no longer needed.',
  });
}

/** As the invited person knows the inviter. */
async function nameOf({ transaction, access: { principal } }: Change): Promise<string> {
  const user = principal.kind === 'user' ? await transaction.find('user', principal.user, null) : null;
  return user === null ? 'The operator of the platform' : user.name;
}

/** Removes expired invitations, which are refused anyway. */
export async function removeExpiredInvitations(graph: Graph, now: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const where = [{ field: 'expiresAt', below: now }] as const;
    const { nodes } = await graph.select({ type: 'invitation', anchor: 'everywhere', where, limit: sliceMax });
    if (nodes.length === 0 || signal.aborted) return;
    await graph.write(async (transaction) => {
      for (const { id, workspace } of nodes) await transaction.remove('invitation', id, workspace);
    });
  }
}

const sliceMax = 100;
