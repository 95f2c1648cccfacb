import { SvcError } from './errors.ts';
import { toolNameLengthMax, toolsOfSkillMax } from './workspace-limits.ts';

/** `*` in the name of a tool stands for any characters, also none. Nothing else is special. */
export function isToolPattern(tool: string): boolean {
  return tool.includes('*');
}

/** A pattern in its stored form: without repeated `*`. */
export function parseToolPattern(text: string): string {
  if (text.length > toolNameLengthMax) {
    throw new SvcError(
      'invalid_input',
      `A pattern of tools has ${text.length} characters: it must have at most ${toolNameLengthMax}.`,
    );
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new SvcError('invalid_input', 'A pattern of tools holds a zero byte or half a character.');
  }
  return text.replace(/\*+/g, '*');
}

/** The test of a pattern. It looks for each part once, from left to right, so the time grows linearly with the name. */
export function toolMatcher(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    const end = name.length - last.length;
    if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** A pattern of a skill: it follows the listed tools of one MCP server. */
export interface ToolPattern {
  readonly mcpServer: string;
  readonly pattern: string;
}

interface NamedTool {
  readonly id: string;
  readonly originalName: string;
}

/** The tools of a skill, and how many more match its patterns beyond the limit. */
export interface FollowedTools<Tool> {
  readonly tools: readonly Tool[];
  readonly leftOut: number;
}

/**
 * The tools that a skill names, then those that match its patterns, ordered by MCP server and name. Named tools come
 * first, so the limit leaves out only matching ones. `listedBy` has the listed tools of each MCP server, ordered with
 * `byOriginalName`.
 */
export function followTools<Tool extends NamedTool>(
  named: readonly Tool[],
  patterns: readonly ToolPattern[],
  listedBy: (mcpServer: string) => readonly Tool[],
): FollowedTools<Tool> {
  if (patterns.length === 0) return { tools: named, leftOut: 0 };
  const known = new Set(named.map(({ id }) => id));
  const matching = [...Map.groupBy(patterns, ({ mcpServer }) => mcpServer)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([mcpServer, own]) => {
      const matchers = own.map(({ pattern }) => toolMatcher(pattern));
      return listedBy(mcpServer).filter(
        ({ id, originalName }) => !known.has(id) && matchers.some((matches) => matches(originalName)),
      );
    });
  const room = Math.max(0, toolsOfSkillMax - named.length);
  return { tools: [...named, ...matching.slice(0, room)], leftOut: Math.max(0, matching.length - room) };
}

export function byOriginalName(one: Pick<NamedTool, 'originalName'>, other: Pick<NamedTool, 'originalName'>): number {
  return one.originalName < other.originalName ? -1 : one.originalName > other.originalName ? 1 : 0;
}
