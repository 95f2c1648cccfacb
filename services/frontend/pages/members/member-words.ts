import { isAtLeast, type MemberRole, memberRoles } from '../../../contracts/member-roles.ts';
import type { MembersQuery } from '../../graphql/generated/operations.ts';

export type Member = NonNullable<MembersQuery['workspace']>['members']['nodes'][number];
export type MemberKey = Member['keys'][number];

/** What each role adds to the one before it. */
export const roleWords: Readonly<Record<MemberRole, string>> = {
  viewer: 'Sees the workspace, and uses its tools with own API keys and agents.',
  editor: 'Does all that a viewer does, and changes skills and roles.',
  admin: 'Does all that an editor does, and changes MCP servers, runtimes, members and invitations.',
  owner: 'Does all that an admin does, renames the workspace, and appoints owners.',
};

/** The roles that a person may give: none above the own one. */
export function roleOptions(own: MemberRole): readonly { readonly value: MemberRole; readonly title: MemberRole }[] {
  return memberRoles.filter((role) => isAtLeast(own, role)).map((role) => ({ value: role, title: role }));
}

/** Whether the workspace would be without an owner. A suspended one does not count. */
export function isOnlyOwner(member: string, members: readonly Pick<Member, 'id' | 'role' | 'suspended'>[]): boolean {
  const owners = members.filter(({ role, suspended }) => role === 'owner' && !suspended);
  return owners.length === 1 && owners[0]?.id === member;
}

/** A connected agent is a key of an OAuth client. */
export function isAgent({ client }: Pick<MemberKey, 'client'>): boolean {
  return client != null;
}

/** Such as "2 API keys and 1 connected agent". */
export function countKeys(keys: readonly Pick<MemberKey, 'client'>[]): string {
  const agents = keys.filter(isAgent).length;
  const counts = [
    ...counted(keys.length - agents, 'API key', 'API keys'),
    ...counted(agents, 'connected agent', 'connected agents'),
  ];
  return counts.join(' and ') || 'none';
}

function counted(count: number, one: string, several: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
}

/** What the end of a membership does to a key. `heir` is the member who gets the keys. */
export function fateOf(key: MemberKey, heir: Member | null): string {
  if (isAgent(key)) return `The connected agent "${key.name}" is cut off: it acts for this person.`;
  const name = key.name === '' ? 'A key that is being replaced' : `The key "${key.name}"`;
  if (heir === null) return `${name} is revoked: its agents lose access.`;
  return `${name} goes to ${heir.person.email}: its agents go on.`;
}
