import { nearest } from '../../contracts/did-you-mean.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';

/** The MCP servers of the references by name. */
export async function getServers(
  transaction: Transaction,
  workspace: WorkspaceId,
  refs: readonly { readonly mcpServer: string }[],
): Promise<ReadonlyMap<string, Node<'mcpServer'>>> {
  const servers = new Map<string, Node<'mcpServer'>>();
  for (const name of new Set(refs.map(({ mcpServer }) => mcpServer))) {
    const server = await transaction.findBy('mcpServer', { name }, workspace);
    if (server === null) throw await unknownServer(transaction, workspace, name);
    servers.set(name, server);
  }
  return servers;
}

async function unknownServer(transaction: Transaction, workspace: WorkspaceId, name: string): Promise<SvcError> {
  const { nodes } = await transaction.select({ type: 'mcpServer', anchor: workspace, limit: pageMax });
  const known = nodes.map((server) => server.name);
  const near = nearest(name, known);
  return new SvcError('not_found', `This workspace has no MCP server "${name.slice(0, 80)}".`, {
    hint: near === null ? 'List them: svc server list' : `Did you mean "${near}"?`,
  });
}
