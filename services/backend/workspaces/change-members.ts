import { SvcError } from '../../contracts/errors.ts';
import { parseId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { lastOwner } from '../../contracts/last-owner.ts';
import type { MemberRole } from '../../contracts/member-roles.ts';
import { keysOfMemberMax } from '../../contracts/workspace-limits.ts';
import { announceAccount } from '../accounts/announce-account.ts';
import { endKey } from '../accounts/end-key.ts';
import { removeGrantOfKey } from '../accounts/remove-grant.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { type BasedOn, findSince, requireSeen, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { parseMemberRole, requireOperator, requireRank, requireRight } from '../members/access.ts';
import { countKeys } from '../members/count-keys.ts';
import { createMember } from '../members/create-member.ts';
import { requireRoomToOwn } from '../members/require-room-to-own.ts';
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
  requireOperator(request.principal, 'add a member without an invitation');
  const added = await change(backend, { ...request, right: 'operate' }, async ({ transaction, access, record }) => {
    const { workspace } = access;
    const user = await ensureUser(transaction, email);
    if ((await transaction.findBy('member', { user: user.id }, workspace.id)) !== null) {
      throw new SvcError('conflict', `"${user.email}" is a member of the workspace "${workspace.name}" already.`, {
        hint: 'Change the role: svc user update EMAIL --role ROLE',
      });
    }
    const member = await createMember(transaction, { workspace: workspace.id, user: user.id, role });
    record(entryOf('create', { member, user }, { role: { to: role } }));
    return member;
  });
  announceAccount(backend, parseId('user', added.user));
  return added;
}

/** A suspended member keeps role and keys, and may use neither. */
export async function updateMember(
  backend: ChangeNeeds,
  request: MemberRequest,
  { id, patch }: { readonly id: string; readonly patch: MemberPatch },
): Promise<Node<'member'>> {
  const changed = await change(backend, { ...request, right: 'administer' }, async (change) => {
    const { member, user } = await getUnchanged(change, { id, ifVersion: patch.ifVersion });
    requireRank(change.access, parseMemberRole(member.role));
    if (patch.role != null) requireRank(change.access, patch.role);
    const after = { role: patch.role ?? member.role, suspended: patch.suspended ?? member.suspended };
    const changes = differences({ role: member.role, suspended: member.suspended }, after);
    if (Object.keys(changes).length === 0) return member;
    if (after.role !== 'owner' || after.suspended) await requireOtherOwner(change, { member, user });
    if (after.role === 'owner' && member.role !== 'owner' && request.principal.kind === 'user') {
      await requireRoomToOwn(change.transaction, user.id);
    }
    change.record(entryOf('update', { member, user }, changes));
    // Cached owners of keys contain the suspension.
    change.announce({ kind: 'key' });
    return await change.transaction.update('member', member.id, after, { anchor: change.workspace });
  });
  announceAccount(backend, parseId('user', changed.user));
  return changed;
}

export interface MemberRemoval extends BasedOn {
  /** Ids of the keys that may be revoked or handed over; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
  /**
   * The id of the member who gets the keys, so that their agents go on; absent: the keys are revoked. Connected agents
   * are disconnected in either case: the person let them in to act for that person.
   */
  readonly keysTo?: string | null | undefined;
}

/**
 * Ends a membership. The member's keys are revoked, so that they stay refused if the person comes back, or handed over.
 * A member may also leave. MCP servers, skills and roles belong to the workspace, so they stay.
 */
export async function removeMember(
  backend: ChangeNeeds,
  request: MemberRequest,
  { ifUsedBy, keysTo, ...basedOn }: MemberRemoval,
): Promise<void> {
  const removed = await change(backend, { ...request, right: 'read' }, async (change) => {
    const { transaction, workspace, record, announce, access } = change;
    const { member, user } = await getUnchanged(change, basedOn);
    const isOwn = access.principal.kind === 'user' && access.principal.user === user.id;
    if (!isOwn || keysTo != null) requireRight(access, 'administer');
    requireRank(access, parseMemberRole(member.role));
    await requireOtherOwner(change, { member, user });
    const heir = keysTo == null ? null : await getHeir(change, { member, keysTo });
    const keys = await keysInUse(transaction, member);
    requireSeen({ kind: 'member', name: user.email }, { kind: 'key', objects: keys, seen: ifUsedBy });
    if (heir !== null) {
      await requireRoomToHandOver(change, heir, keys.filter(({ client }) => client === null).length);
    }
    for (const key of keys) {
      if (heir === null || key.client !== null) await revoke(change, key);
      else await handOver(change, key, { from: user, to: heir });
    }
    await transaction.remove('member', member.id, workspace);
    record(entryOf('remove', { member, user }, {}));
    announce({ kind: 'key' });
    return user.id;
  });
  announceAccount(backend, removed);
}

async function revoke({ transaction, record }: Change, key: Node<'key'>): Promise<void> {
  await endKey(transaction, key);
  await removeGrantOfKey(transaction, key);
  record({ action: 'revoke', subject: key.id, subjectKind: 'key', subjectName: key.name, changes: {} });
}

type Named = KnownMember['user'];

async function handOver(
  { transaction, record }: Change,
  key: Node<'key'>,
  { from, to }: { readonly from: Named; readonly to: Named },
): Promise<void> {
  const edge = { from: 'key', edge: 'user' } as const;
  await transaction.unlink(edge, key.id, [from.id]);
  await transaction.link(edge, key.id, [to.id]);
  const changes = { owner: { from: from.email, to: to.email } };
  record({ action: 'update', subject: key.id, subjectKind: 'key', subjectName: key.name, changes });
}

/** The other member who gets the keys. */
async function getHeir(
  change: Change,
  { member, keysTo }: { readonly member: Node<'member'>; readonly keysTo: string },
): Promise<Named> {
  const heir = await getMember(change, keysTo);
  if (heir.member.id !== member.id && !heir.member.suspended) return heir.user;
  throw new SvcError('conflict', `"${heir.user.email}" cannot get the keys: name another member who is not suspended.`);
}

async function requireRoomToHandOver({ transaction, workspace }: Change, heir: Named, count: number): Promise<void> {
  const owned = await countKeys(transaction, workspace, heir.id);
  if (owned + count <= keysOfMemberMax) return;
  throw new SvcError(
    'too_large',
    `"${heir.email}" has ${owned} keys and cannot get ${count} more: a member may have ${keysOfMemberMax}.`,
    { hint: 'Give the keys to another member, or first revoke those that no agent uses: svc keys revoke NAME' },
  );
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

async function requireOtherOwner({ transaction, access }: Change, { member, user }: KnownMember): Promise<void> {
  const { workspace } = access;
  const where = [{ field: 'role', equals: 'owner' }] as const;
  const { nodes } = await transaction.select({ type: 'member', anchor: workspace.id, where, limit: pageMax });
  const active = nodes.filter(({ suspended }) => !suspended);
  if (!active.some(({ id }) => id === member.id) || active.length > 1) return;
  throw lastOwner(user.email, workspace.name);
}

function entryOf(
  action: 'create' | 'update' | 'remove',
  { member, user }: KnownMember,
  changes: Parameters<Change['record']>[0]['changes'],
) {
  return { action, subject: member.id, subjectKind: 'member', subjectName: user.email, changes } as const;
}
