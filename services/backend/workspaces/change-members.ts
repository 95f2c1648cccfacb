import { SvcError } from '../../contracts/errors.ts';
import { newId, parseId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { membersMax } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { type BasedOn, findSince, requireSeen, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { everyPage } from '../graph/every-page.ts';
import { tooMany } from '../graph/get-node.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import type { MemberRole } from '../members/access.ts';
import { ensureUser } from '../members/users.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

export interface MemberRequest {
  readonly principal: TokenPrincipal;
  readonly workspace: WorkspaceId;
}

export interface MemberPatch {
  readonly role?: MemberRole | null | undefined;
  readonly suspended?: boolean | null | undefined;
  readonly ifVersion?: number | null | undefined;
}

/** Makes a person a member of a workspace. */
export async function addMember(
  backend: ChangeNeeds,
  request: MemberRequest,
  { email, role }: { readonly email: string; readonly role: MemberRole },
): Promise<Node<'member'>> {
  requireOperator(request);
  return await change(backend, { ...request, right: 'operate' }, async ({ transaction, access, record }) => {
    const { workspace } = access;
    const user = await ensureUser(transaction, email);
    if ((await transaction.findBy('member', { user: user.id }, workspace.id)) !== null) {
      throw new SvcError('conflict', `"${user.email}" is a member of the workspace "${workspace.name}" already.`, {
        hint: 'Change the role: svc user update EMAIL --role ROLE',
      });
    }
    if ((await transaction.count({ type: 'member', anchor: workspace.id, limit: membersMax })) >= membersMax) {
      throw tooMany('members of a workspace', membersMax);
    }
    const member = await transaction.create('member', {
      ...{ id: newId('member'), workspace: workspace.id, user: user.id },
      ...{ role, suspended: false, createdAt: Date.now() },
    });
    await transaction.link({ from: 'member', edge: 'person' }, member.id, [user.id]);
    record(entryOf('create', { member, user }, { role: { to: role } }));
    return member;
  });
}

/** A suspended member keeps role and keys, and may use neither. */
export async function updateMember(
  backend: ChangeNeeds,
  request: MemberRequest,
  { id, patch }: { readonly id: string; readonly patch: MemberPatch },
): Promise<Node<'member'>> {
  requireOperator(request);
  return await change(backend, { ...request, right: 'operate' }, async (change) => {
    const { member, user } = await getUnchanged(change, { id, ifVersion: patch.ifVersion });
    const after = { role: patch.role ?? member.role, suspended: patch.suspended ?? member.suspended };
    const changes = differences({ role: member.role, suspended: member.suspended }, after);
    if (Object.keys(changes).length === 0) return member;
    if (after.role !== 'owner' || after.suspended) await requireOtherOwner(change, { member, user });
    change.record(entryOf('update', { member, user }, changes));
    // Cached owners of keys contain the suspension.
    change.announce({ kind: 'key' });
    return await change.transaction.update('member', member.id, after, { anchor: change.workspace });
  });
}

export interface MemberRemoval extends BasedOn {
  /** Ids of the keys that may be revoked; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
}

/** Ends a membership and revokes the keys of the member, so that they stay refused if the person comes back. */
export async function removeMember(
  backend: ChangeNeeds,
  request: MemberRequest,
  { ifUsedBy, ...basedOn }: MemberRemoval,
): Promise<void> {
  requireOperator(request);
  await change(backend, { ...request, right: 'operate' }, async (change) => {
    const { transaction, workspace, record, announce } = change;
    const { member, user } = await getUnchanged(change, basedOn);
    await requireOtherOwner(change, { member, user });
    const keys = await keysInUse(transaction, member);
    requireSeen({ kind: 'member', name: user.email }, { kind: 'key', objects: keys, seen: ifUsedBy });
    const revokedAt = Date.now();
    for (const key of keys) {
      await transaction.update('key', key.id, { revokedAt, activeName: null }, { anchor: workspace });
      record({ action: 'revoke', subject: key.id, subjectKind: 'key', subjectName: key.name, changes: {} });
    }
    await transaction.remove('member', member.id, workspace);
    record(entryOf('remove', { member, user }, {}));
    announce({ kind: 'key' });
  });
}

/** The keys of a member that are not revoked, of which some may have expired. */
async function keysInUse(
  graph: Transaction,
  { user, workspace: anchor }: Node<'member'>,
): Promise<readonly Node<'key'>[]> {
  const found: Node<'key'>[] = [];
  for await (const page of everyPage(graph, { type: 'key', anchor, orderBy: 'name', limit: pageMax })) {
    const keys = page.filter(({ revokedAt }) => revokedAt === null);
    if (keys.length === 0) continue;
    const ids = keys.map(({ id }) => id);
    const owners = await graph.follow({ from: 'key', edge: 'user' }, ids, { anchor, limitEach: 1 });
    found.push(...keys.filter(({ id }) => owners.get(id)?.[0]?.id === user));
  }
  return found;
}

function requireOperator({ principal }: MemberRequest): void {
  if (principal.kind === 'operator') return;
  throw new SvcError('forbidden', 'Only an operator of the platform may change the members of a workspace.');
}

interface KnownMember {
  readonly member: Node<'member'>;
  readonly user: { readonly id: UserId; readonly email: string };
}

async function getUnchanged(change: Change, basedOn: BasedOn): Promise<KnownMember> {
  const known = await findSince(change, 'member', basedOn, () => getMember(change, basedOn.id));
  const { id, version } = known.member;
  await requireVersion(change, 'member', { id, version, name: known.user.email }, basedOn.ifVersion);
  return known;
}

async function getMember({ transaction, workspace }: Change, id: string): Promise<KnownMember> {
  const member = await transaction.find('member', parseId('member', id), workspace);
  const ends =
    member === null
      ? null
      : await transaction.follow({ from: 'member', edge: 'person' }, [member.id], {
          anchor: workspace,
          limitEach: 1,
        });
  const user = member === null ? undefined : ends?.get(member.id)?.[0];
  if (member === null || user === undefined) throw new SvcError('not_found', `There is no member "${id}".`);
  return { member, user };
}

/** A workspace always has an owner who is not suspended: keys that operators make belong to the owner. */
async function requireOtherOwner({ transaction, access }: Change, { member, user }: KnownMember): Promise<void> {
  const { workspace } = access;
  const where = [{ field: 'role', equals: 'owner' }] as const;
  const { nodes } = await transaction.select({ type: 'member', anchor: workspace.id, where, limit: pageMax });
  const active = nodes.filter(({ suspended }) => !suspended);
  if (!active.some(({ id }) => id === member.id) || active.length > 1) return;
  throw new SvcError('conflict', `"${user.email}" is the last owner of the workspace "${workspace.name}".`, {
    hint: 'First make somebody else an owner: svc user update EMAIL --role owner',
  });
}

function entryOf(
  action: 'create' | 'update' | 'remove',
  { member, user }: KnownMember,
  changes: Parameters<Change['record']>[0]['changes'],
) {
  return { action, subject: member.id, subjectKind: 'member', subjectName: user.email, changes } as const;
}
