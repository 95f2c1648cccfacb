import type { WorkspaceId } from '../../contracts/ids.ts';
import type { Graph, Node } from '../graph/graph.ts';

/** The owner of a workspace; if it has several, the first. */
export async function findOwner(graph: Pick<Graph, 'select'>, workspace: WorkspaceId): Promise<Node<'member'> | null> {
  const { nodes } = await graph.select({
    type: 'member',
    anchor: workspace,
    where: [{ field: 'role', equals: 'owner' }],
    limit: 1,
  });
  return nodes[0] ?? null;
}
