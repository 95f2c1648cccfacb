import { SvcError } from '../../services/contracts/errors.ts';
import { lastOwner } from '../../services/contracts/last-owner.ts';
import { type MemberRole, memberRoles } from '../../services/contracts/member-roles.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { keysOfMembersQuery, type MemberFragment, membersQuery } from '../../stack/client/generated/operations.ts';
import { choice } from '../typed/how-it-runs.ts';
import { named, type Tenancy } from './platform.ts';

export type Member = MemberFragment;

/** The value of `--role`. */
export function parseMemberRole(text: string | undefined): MemberRole | undefined {
  return choice('--role', text, memberRoles);
}

export function fetchMembers(backend: BackendClient, workspace: string): Promise<Member[]> {
  return everyPage(async (page) => (await backend.send(membersQuery, { workspace, ...page })).workspace?.members);
}

/** A member of the workspace by e-mail address, in any case of letters, or by id. */
export async function getMember({ backend, workspace }: Tenancy, given: string): Promise<Member> {
  const members = await fetchMembers(backend, workspace.id);
  const byEmail = members.map((member) => ({ ...member, name: member.person.email }));
  const { id } = named(`member of the workspace ${workspace.name} named`, byEmail, given.trim().toLowerCase());
  const found = members.find((member) => member.id === id);
  if (found !== undefined) return found;
  throw new SvcError('conflict', 'The member was removed meanwhile.', { hint: 'List those that exist: svc user list' });
}

/** Refuses before any question what the backend would refuse after it. */
export async function requireOtherOwner({ backend, workspace }: Tenancy, member: Member): Promise<void> {
  const isActiveOwner = ({ role, suspended }: Member) => role === 'owner' && !suspended;
  if (!isActiveOwner(member)) return;
  const others = (await fetchMembers(backend, workspace.id)).filter(({ id }) => id !== member.id);
  if (!others.some(isActiveOwner)) throw lastOwner(member.person.email, workspace.name);
}

/** The keys of a member that are read. */
export const keysOfMemberMax = 100;

/** The keys and connected agents that a removal takes from the member. */
export async function fetchKeysOf({ backend, workspace }: Tenancy, { id }: Member) {
  const members = await everyPage(async ({ first, after }) => {
    const page = { workspace: workspace.id, first: Math.min(first, membersPerPageMax), after };
    return (await backend.send(keysOfMembersQuery, page)).workspace?.members;
  });
  return members.find((member) => member.id === id)?.keys ?? [];
}

/** Each may have a hundred keys in the answer. */
const membersPerPageMax = 100;

export type KeyOfMember = Awaited<ReturnType<typeof fetchKeysOf>>[number];

/** A connected agent is a key of an OAuth client. */
export function isAgent({ client }: Pick<KeyOfMember, 'client'>): boolean {
  return client != null;
}

/** What the removal of its member does to a key. `heir` is the member who gets the keys. */
export function fateOf(key: Pick<KeyOfMember, 'name' | 'client'>, heir: Member | null): string {
  if (isAgent(key)) return `The connected agent "${key.name}" is disconnected: it acts for this person.`;
  if (heir === null) return `The key "${key.name}" is revoked: its agents lose access.`;
  return `The key "${key.name}" goes to ${heir.person.email}: its agents go on.`;
}
