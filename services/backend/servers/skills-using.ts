import { everyPage } from '../graph/every-page.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';

/** Tools whose skills are read at once: with 1000 skills of each, fewer edges than a read may find. */
const sliceMax = 40;
/** Skills may carry long instructions, and a read holds them all. */
const textMax = 64 * 1024 * 1024;

/** The skills that use tools of an MCP server, by name, and at most this many. */
export async function skillsUsing(
  graph: Pick<Graph, 'select' | 'follow' | 'followBack'>,
  server: Node<'mcpServer'>,
  max: number,
): Promise<readonly Node<'skill'>[]> {
  const found = new Map<string, Node<'skill'>>();
  for await (const { skills } of usedTools(graph, server, max)) {
    for (const skill of skills) found.set(skill.id, skill);
    if (found.size >= max) break;
  }
  for (const skill of await followers(graph, server, max)) found.set(skill.id, skill);
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, max);
}

/** The skills that follow tools of an MCP server by a pattern. */
export async function followers(
  graph: Pick<Transaction, 'select' | 'follow'>,
  { id, workspace: anchor }: Node<'mcpServer'>,
  max: number,
): Promise<readonly Node<'skill'>[]> {
  const where = [{ field: 'mcpServer' as const, equals: id }];
  const found = new Map<string, Node<'skill'>>();
  for await (const patterns of everyPage(graph, { type: 'toolPattern', anchor, where, limit: sliceMax })) {
    const ids = patterns.map((pattern) => pattern.id);
    const skills = await graph.follow({ from: 'toolPattern', edge: 'of' }, ids, { anchor, limitEach: 1, textMax });
    for (const skill of [...skills.values()].flat()) found.set(skill.id, skill);
    if (found.size >= max) break;
  }
  return [...found.values()];
}

/** Each tool of an MCP server that skills use, with at most `max` of its skills. */
export async function* usedTools(
  graph: Pick<Transaction, 'select' | 'followBack'>,
  { id, workspace: anchor }: Node<'mcpServer'>,
  max: number,
): AsyncGenerator<{ readonly tool: Node<'tool'>; readonly skills: readonly Node<'skill'>[] }, void, undefined> {
  const where = [{ field: 'mcpServer' as const, equals: id }];
  for await (const tools of everyPage(graph, { type: 'tool', anchor, where, limit: sliceMax })) {
    const ids = tools.map((tool) => tool.id);
    const users = await graph.followBack({ from: 'skill', edge: 'tools' }, ids, { anchor, limitEach: max, textMax });
    for (const tool of tools) {
      const skills = users.get(tool.id) ?? [];
      if (skills.length > 0) yield { tool, skills };
    }
  }
}
