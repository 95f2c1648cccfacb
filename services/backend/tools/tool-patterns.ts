import { type McpServerId, newId, type WorkspaceId } from '../../contracts/ids.ts';
import { parseToolPattern } from '../../contracts/tool-pattern.ts';
import { patternsOfSkillMax, patternsOfWorkspaceMax } from '../../contracts/workspace-limits.ts';
import { tooMany } from '../graph/get-node.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';

/** A pattern as a skill is to have it. */
export interface WantedPattern {
  readonly server: Node<'mcpServer'>;
  readonly text: string;
}

/** Replaces the patterns of a skill; returns them as MCPSERVER/PATTERN, before and after. */
export async function replacePatterns(
  transaction: Transaction,
  skill: Node<'skill'>,
  wanted: readonly WantedPattern[],
): Promise<{ before: readonly string[]; after: readonly string[] }> {
  const after = new Map<string, { readonly server: Node<'mcpServer'>; readonly pattern: string }>();
  for (const { server, text } of wanted) {
    const pattern = parseToolPattern(text);
    after.set(`${server.name}/${pattern}`, { server, pattern });
  }
  if (after.size > patternsOfSkillMax) throw tooMany('patterns of tools in a skill', patternsOfSkillMax);
  const before = await patternsByRef(transaction, skill);
  for (const [ref, { id }] of before) {
    if (!after.has(ref)) await transaction.remove('toolPattern', id, skill.workspace);
  }
  const added = [...after].filter(([ref]) => !before.has(ref));
  if (added.length > 0) await requireRoom(transaction, skill.workspace, added.length);
  for (const [, { server, pattern }] of added) await addPattern(transaction, skill, server, pattern);
  return { before: [...before.keys()], after: [...after.keys()] };
}

/** Removes the patterns of a removed skill or MCP server. */
export async function removePatternsOf(
  transaction: Transaction,
  workspace: WorkspaceId,
  owner: { readonly field: 'skill' | 'mcpServer'; readonly id: string },
): Promise<void> {
  for (;;) {
    const { nodes } = await transaction.select({
      type: 'toolPattern',
      anchor: workspace,
      where: [{ field: owner.field, equals: owner.id }],
      limit: pageMax,
    });
    if (nodes.length === 0) return;
    for (const { id } of nodes) await transaction.remove('toolPattern', id, workspace);
  }
}

async function addPattern(
  transaction: Transaction,
  skill: Node<'skill'>,
  server: { readonly id: McpServerId },
  pattern: string,
): Promise<void> {
  const id = newId('toolPattern');
  const of = { skill: skill.id, mcpServer: server.id };
  await transaction.create('toolPattern', { id, workspace: skill.workspace, ...of, pattern, createdAt: Date.now() });
  await transaction.link({ from: 'toolPattern', edge: 'of' }, id, [skill.id]);
  await transaction.link({ from: 'toolPattern', edge: 'server' }, id, [server.id]);
}

async function patternsByRef(
  transaction: Transaction,
  { id, workspace: anchor }: Node<'skill'>,
): Promise<ReadonlyMap<string, Node<'toolPattern'>>> {
  const options = { anchor, limitEach: patternsOfSkillMax };
  const patterns = (await transaction.followBack({ from: 'toolPattern', edge: 'of' }, [id], options)).get(id) ?? [];
  const ids = patterns.map((pattern) => pattern.id);
  const servers = await transaction.follow({ from: 'toolPattern', edge: 'server' }, ids, { anchor, limitEach: 1 });
  return new Map(
    patterns.map((pattern) => [`${servers.get(pattern.id)?.[0]?.name ?? ''}/${pattern.pattern}`, pattern]),
  );
}

async function requireRoom(transaction: Transaction, workspace: WorkspaceId, added: number): Promise<void> {
  const present = await transaction.count({ type: 'toolPattern', anchor: workspace, limit: 1 });
  if (present + added > patternsOfWorkspaceMax) {
    throw tooMany('patterns of tools in all skills of a workspace', patternsOfWorkspaceMax);
  }
}
