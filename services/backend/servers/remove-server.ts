import { SvcError } from '../../contracts/errors.ts';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { getNode } from '../graph/get-node.ts';
import { type Node, pageMax } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { removePatternsOf } from '../tools/tool-patterns.ts';
import { runtimesOf } from './change-servers.ts';

/**
 * Removes an MCP server with its tools and statuses. Refused while skills use its tools, because they would silently
 * lose them.
 */
export function removeMcpServer(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
): Promise<void> {
  return change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { transaction } = change;
    const server = await getNode(transaction, 'mcpServer', id, workspace);
    const runtimes = await runtimesOf(change, server);
    await removeTools(change, server);
    await removePatternsOf(transaction, workspace, { field: 'mcpServer', id: server.id });
    await removeStatuses(change, server.id);
    await transaction.remove('mcpServer', server.id, workspace);
    change.record({
      action: 'remove',
      subject: server.id,
      subjectKind: 'mcpServer',
      subjectName: server.name,
      changes: {},
    });
    change.announce({ kind: 'command', runtimes, command: { kind: 'assignments' } });
  });
}

async function removeTools(change: Change, server: Node<'mcpServer'>): Promise<void> {
  const { transaction, workspace } = change;
  for (;;) {
    const { nodes: tools } = await transaction.select({
      type: 'tool',
      anchor: workspace,
      where: [{ field: 'mcpServer', equals: server.id }],
      limit: pageMax,
    });
    if (tools.length === 0) return;
    await refuseWhileUsed(change, server, tools);
    for (const tool of tools) await transaction.remove('tool', tool.id, workspace);
  }
}

const skillsNamedMax = 5;

async function refuseWhileUsed(
  { transaction, workspace }: Change,
  server: Node<'mcpServer'>,
  tools: readonly Node<'tool'>[],
): Promise<void> {
  const users = await transaction.followBack(
    { from: 'skill', edge: 'tools' },
    tools.map(({ id }) => id),
    { anchor: workspace, limitEach: skillsNamedMax },
  );
  const names = [...new Set([...users.values()].flat().map(({ name }) => name))].slice(0, skillsNamedMax);
  if (names.length === 0) return;
  throw new SvcError(
    'conflict',
    `The MCP server "${server.name}" is needed by the ${names.length === 1 ? 'skill' : 'skills'} ${names.join(', ')}.`,
    { hint: 'Remove its tools from these skills, or remove the skills, and try again.' },
  );
}

async function removeStatuses({ transaction, workspace }: Change, mcpServer: McpServerId): Promise<void> {
  for (;;) {
    const { nodes } = await transaction.select({
      type: 'status',
      anchor: workspace,
      where: [{ field: 'mcpServer', equals: mcpServer }],
      limit: pageMax,
    });
    if (nodes.length === 0) return;
    for (const { id } of nodes) await transaction.remove('status', id, workspace);
  }
}
