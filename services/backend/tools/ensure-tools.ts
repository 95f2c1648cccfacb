import { SvcError } from '../../contracts/errors.ts';
import { newId, type ToolId, type WorkspaceId } from '../../contracts/ids.ts';
import { toolNameLengthMax } from '../../contracts/workspace-limits.ts';
import type { Node, Transaction } from '../graph/graph.ts';

/** A tool by its MCP server's name and its own. */
export interface ToolRef {
  readonly mcpServer: string;
  readonly tool: string;
}

/**
 * The referenced tools, in the given order. A tool may be referenced before its MCP server has listed it: it is created
 * without a name, and gets one when it is listed. Throws `not_found` for an unknown MCP server.
 */
export async function ensureTools(
  transaction: Transaction,
  workspace: WorkspaceId,
  refs: readonly ToolRef[],
): Promise<readonly ToolId[]> {
  const servers = new Map<string, Node<'mcpServer'>>();
  const tools: ToolId[] = [];
  for (const ref of refs) {
    const server = servers.get(ref.mcpServer) ?? (await getServer(transaction, workspace, ref));
    servers.set(ref.mcpServer, server);
    tools.push(await ensureTool(transaction, server, ref));
  }
  return tools;
}

async function getServer(transaction: Transaction, workspace: WorkspaceId, ref: ToolRef): Promise<Node<'mcpServer'>> {
  const server = await transaction.findBy('mcpServer', { name: ref.mcpServer }, workspace);
  if (server !== null) return server;
  throw new SvcError('not_found', `This workspace has no MCP server "${ref.mcpServer}" with a tool "${ref.tool}".`, {
    hint: 'List them: svc server list',
  });
}

async function ensureTool(transaction: Transaction, server: Node<'mcpServer'>, ref: ToolRef): Promise<ToolId> {
  if (ref.tool.length < 1 || ref.tool.length > toolNameLengthMax) {
    throw new SvcError(
      'invalid_input',
      `The name of a tool of the MCP server "${ref.mcpServer}" has ${ref.tool.length} characters: it must have 1 to ${toolNameLengthMax}.`,
    );
  }
  const values = { mcpServer: server.id, originalName: ref.tool };
  const known = await transaction.findBy('tool', values, server.workspace);
  if (known !== null) return known.id;
  const tool = await transaction.create('tool', {
    ...values,
    id: newId('tool'),
    workspace: server.workspace,
    name: null,
    definition: null,
    listed: false,
    createdAt: Date.now(),
  });
  await transaction.link({ from: 'tool', edge: 'server' }, tool.id, [server.id]);
  return tool.id;
}
