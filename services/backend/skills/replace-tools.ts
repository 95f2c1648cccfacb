import type { WorkspaceId } from '../../contracts/ids.ts';
import { isToolPattern } from '../../contracts/tool-pattern.ts';
import { toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import type { Change } from '../activity/change.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { replaceEdges } from '../graph/replace-edges.ts';
import { getServers } from '../servers/get-servers.ts';
import { ensureTools, type ToolRef } from '../tools/ensure-tools.ts';
import { replacePatterns } from '../tools/tool-patterns.ts';

/** Replaces the named tools and the patterns of a skill; returns both as MCPSERVER/TOOL, before and after. */
export async function replaceTools(
  { transaction, workspace }: Change,
  skill: Node<'skill'>,
  refs: readonly ToolRef[],
): Promise<{ before: readonly string[]; after: readonly string[] }> {
  const named = refs.filter(({ tool }) => !isToolPattern(tool));
  if (named.length > toolsOfSkillMax) throw tooMany('tools in a skill', toolsOfSkillMax);
  const servers = await getServers(transaction, workspace, refs);
  const to = await ensureTools(transaction, workspace, named);
  const ends = await replaceEdges(
    transaction,
    { from: 'skill', edge: 'tools' },
    { from: skill.id, anchor: workspace, to },
  );
  const followed = refs.flatMap(({ mcpServer, tool }) => {
    const server = servers.get(mcpServer);
    return server === undefined || !isToolPattern(tool) ? [] : [{ server, text: tool }];
  });
  const patterns = await replacePatterns(transaction, skill, followed);
  return {
    before: [...(await refsOf(transaction, workspace, ends.before)), ...patterns.before].sort(),
    after: [...(await refsOf(transaction, workspace, ends.after)), ...patterns.after].sort(),
  };
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
  return tools.map((tool) => `${names.get(tool.mcpServer)}/${tool.originalName}`);
}
