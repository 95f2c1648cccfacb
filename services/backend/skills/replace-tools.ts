import { nearest } from '../../contracts/did-you-mean.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import type { Change } from '../activity/change.ts';
import { tooMany } from '../graph/get-node.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { replaceEdges } from '../graph/replace-edges.ts';
import { ensureTools, type ToolRef } from '../tools/ensure-tools.ts';

/** Replaces the tools of a skill; returns them as MCPSERVER/TOOL, before and after. */
export async function replaceTools(
  { transaction, workspace }: Change,
  skill: Node<'skill'>,
  refs: readonly ToolRef[],
): Promise<{ before: readonly string[]; after: readonly string[] }> {
  if (refs.length > toolsOfSkillMax) throw tooMany('tools in a skill', toolsOfSkillMax);
  await checkServers(transaction, workspace, refs);
  const to = await ensureTools(transaction, workspace, refs);
  const ends = await replaceEdges(
    transaction,
    { from: 'skill', edge: 'tools' },
    { from: skill.id, anchor: workspace, to },
  );
  return {
    before: await refsOf(transaction, workspace, ends.before),
    after: await refsOf(transaction, workspace, ends.after),
  };
}

async function checkServers(transaction: Transaction, workspace: WorkspaceId, refs: readonly ToolRef[]): Promise<void> {
  for (const name of new Set(refs.map(({ mcpServer }) => mcpServer))) {
    if ((await transaction.findBy('mcpServer', { name }, workspace)) === null) {
      throw await unknownServer(transaction, workspace, name);
    }
  }
}

async function unknownServer(transaction: Transaction, workspace: WorkspaceId, name: string): Promise<SvcError> {
  const { nodes } = await transaction.select({ type: 'mcpServer', anchor: workspace, limit: pageMax });
  const known = nodes.map((server) => server.name);
  const near = nearest(name, known);
  return new SvcError('not_found', `This workspace has no MCP server "${name.slice(0, 80)}".`, {
    hint: near === null ? 'List them: svc server list' : `Did you mean "${near}"?`,
  });
}

async function refsOf(
  transaction: Transaction,
  workspace: WorkspaceId,
  tools: readonly Node<'tool'>[],
): Promise<readonly string[]> {
  const names = new Map<string, string>();
  for (const tool of tools) {
    if (names.has(tool.mcpServer)) continue;
    const ends = await transaction.follow({ from: 'tool', edge: 'server' }, [tool.id], {
      anchor: workspace,
      limitEach: 1,
    });
    names.set(tool.mcpServer, ends.get(tool.id)?.[0]?.name ?? '');
  }
  return tools.map((tool) => `${names.get(tool.mcpServer)}/${tool.originalName}`).sort();
}
