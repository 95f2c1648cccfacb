import { newId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { MemberRole } from '../../contracts/member-roles.ts';
import { membersMax } from '../../contracts/workspace-limits.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';

interface NewMember {
  readonly workspace: WorkspaceId;
  readonly user: UserId;
  readonly role: MemberRole;
}

export async function createMember(
  transaction: Transaction,
  { workspace, user, role }: NewMember,
): Promise<Node<'member'>> {
  if ((await transaction.count({ type: 'member', anchor: workspace, limit: membersMax })) >= membersMax) {
    throw tooMany('members of a workspace', membersMax);
  }
  const member = await transaction.create('member', {
    ...{ id: newId('member'), workspace, user, role, suspended: false, createdAt: Date.now() },
  });
  await transaction.link({ from: 'member', edge: 'person' }, member.id, [user]);
  return member;
}
