import type { WorkspaceId } from '../../contracts/ids.ts';
import type { Node, Page, Selection, WithGraph } from '../graph/graph.ts';
import { matchesSearch } from '../graph/search-words.ts';
import { isBeingRemoved } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

export type PageRequest = Pick<Selection<'workspace'>, 'limit' | 'after' | 'search'>;

/** Operators see all workspaces; users those they are members of. */
export async function selectWorkspaces(
  backend: WithGraph,
  principal: TokenPrincipal,
  page: PageRequest,
): Promise<Page<'workspace'>> {
  if (principal.kind === 'operator') {
    return await selectPresent(backend, page);
  }
  const { search = '', ...rest } = page;
  const { memberships, next } = await selectMemberships(backend, principal, rest);
  const workspaces = memberships.map(({ workspace }) => workspace);
  return { nodes: workspaces.filter(({ name }) => matchesSearch([name], search)), next };
}

/** A page without the workspaces that are being removed. It is empty only at the end of the list. */
async function selectPresent({ graph }: WithGraph, page: PageRequest): Promise<Page<'workspace'>> {
  let found = await graph.select({ type: 'workspace', anchor: null, orderBy: 'name', ...page });
  for (;;) {
    const nodes = found.nodes.filter((workspace) => !isBeingRemoved(workspace));
    if (nodes.length > 0 || found.next === null) return { nodes, next: found.next };
    found = await graph.select({ type: 'workspace', anchor: null, orderBy: 'name', ...page, after: found.next });
  }
}

export interface Membership {
  /** Of the member. */
  readonly id: Node<'member'>['id'];
  readonly workspace: Node<'workspace'>;
  readonly role: string;
}

/** A suspended membership does not count until it is resumed. Operators are not members. */
export async function selectMemberships(
  backend: WithGraph,
  principal: TokenPrincipal,
  page: Omit<PageRequest, 'search'>,
): Promise<{ memberships: readonly Membership[]; next: Page<'member'>['next'] }> {
  if (principal.kind === 'operator') return { memberships: [], next: null };
  const { nodes, next } = await backend.graph.select({
    type: 'member',
    // The one query over all workspaces: anchored at the user instead.
    anchor: 'everywhere',
    where: [{ field: 'user', equals: principal.user }],
    ...page,
  });
  const memberships = await Promise.all(
    nodes
      .filter((member) => !member.suspended)
      .map(async ({ id, workspace, role }) => ({ id, workspace: await find(backend, workspace), role })),
  );
  return {
    memberships: memberships.flatMap(({ workspace, ...rest }) => (workspace ? [{ workspace, ...rest }] : [])),
    next,
  };
}

/** The id of the workspace with that name, or null. */
export async function findWorkspaceId(backend: WithGraph, name: string): Promise<WorkspaceId | null> {
  const workspace = await backend.graph.findBy('workspace', { name: name.trim() }, null);
  return workspace?.id ?? null;
}

async function find(backend: WithGraph, id: WorkspaceId): Promise<Node<'workspace'> | null> {
  const workspace = await backend.graph.find('workspace', id, null);
  return workspace === null || isBeingRemoved(workspace) ? null : workspace;
}
