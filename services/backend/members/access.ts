import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { findMemberRole, isAtLeast, type MemberRole } from '../../contracts/member-roles.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';

/** The least role for each right. `operate` is for operators alone. */
export const leastRole = {
  read: 'viewer',
  /** Skills and roles. */
  edit: 'editor',
  /** MCP servers, keys and runtimes. */
  administer: 'admin',
  /** The workspace itself. */
  own: 'owner',
  operate: null,
} as const satisfies Record<string, MemberRole | null>;
export type Right = keyof typeof leastRole;

/** In whose name a change is made. */
export type Actor = Operator | Pick<UserPrincipal, 'kind' | 'user'>;

/** A workspace together with the proof that the caller may use it. */
export interface Access {
  readonly workspace: Node<'workspace'>;
  readonly principal: Actor;
  readonly role: MemberRole | 'operator';
}

export interface AccessRequest {
  readonly principal: TokenPrincipal;
  readonly workspace: WorkspaceId;
  readonly right: Right;
}

/** Opens a workspace. For a non-member it does not exist. */
export async function getAccess(graph: Pick<Graph, 'find' | 'findBy'>, request: AccessRequest): Promise<Access> {
  const { principal, right } = request;
  const workspace = await graph.find('workspace', request.workspace, null);
  if (workspace === null || isBeingRemoved(workspace)) throw noSuchWorkspace(request.workspace);
  if (principal.kind === 'operator') return { workspace, principal, role: 'operator' };
  const member = await graph.findBy('member', { user: principal.user }, workspace.id);
  if (member === null) throw noSuchWorkspace(request.workspace);
  if (member.suspended)
    throw new SvcError('forbidden', `Your membership of the workspace "${workspace.name}" is suspended.`);
  if (workspace.suspended) throw new SvcError('forbidden', `The workspace "${workspace.name}" is suspended.`);
  const access: Access = { workspace, principal, role: parseMemberRole(member.role) };
  requireRight(access, right);
  return access;
}

/**
 * A workspace that is being removed has its id as its name, which no person can give it. It does not exist for anybody,
 * and its name is free.
 */
export function isBeingRemoved({ id, name }: Pick<Node<'workspace'>, 'id' | 'name'>): boolean {
  return name === id;
}

export function requireRight({ role, workspace }: Access, right: Right): void {
  if (allows(role, right)) return;
  const least = leastRole[right];
  throw new SvcError(
    'forbidden',
    least === null
      ? 'Only an operator of the platform may do this.'
      : `Your role "${role}" in the workspace "${workspace.name}" does not allow this: it requires ${least} or more.`,
  );
}

export function allows(role: Access['role'], right: Right): boolean {
  if (role === 'operator') return true;
  const least = leastRole[right];
  return least !== null && isAtLeast(role, least);
}

type Operator = Extract<TokenPrincipal, { kind: 'operator' }>;

/** `what` follows "may" in the refusal. */
export function requireOperator(principal: TokenPrincipal, what: string): asserts principal is Operator {
  if (principal.kind !== 'operator') throw new SvcError('forbidden', `Only an operator of the platform may ${what}.`);
}

/** Nobody changes a member of a higher role, or gives a role above their own. */
export function requireRank({ role, workspace }: Access, other: MemberRole): void {
  if (role === 'operator' || isAtLeast(role, other)) return;
  const message = `Your role "${role}" in the workspace "${workspace.name}" does not allow this: it requires ${other}.`;
  throw new SvcError('forbidden', message);
}

export function noSuchWorkspace(named: string): SvcError {
  return new SvcError('not_found', `There is no workspace "${named}".`, {
    hint: 'The first svc up makes "Default"; { workspaces { nodes { name } } } at /graphql of the backend lists all of yours.',
  });
}

export function parseMemberRole(text: string): MemberRole {
  const role = findMemberRole(text);
  if (role === null) throw new Error(`member role "${text}" in the graph`);
  return role;
}
