import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { isToolPattern, parseToolPattern, toolMatcher } from '../../services/contracts/tool-pattern.ts';
import { inParallel } from '../../stack/client/in-parallel.ts';
import type { ToolRef } from '../../stack/skills/skill-text.ts';
import { named, type Tenancy } from './platform.ts';
import { fetchServers, fetchTools, type McpServer, type Tool } from './servers.ts';

/** Parses `MCPSERVER/TOOL` or `MCPSERVER/PATTERN`, the value of a flag. */
export function parseToolRef(flag: string, text: string): ToolRef {
  const several = text.split(',');
  if (several.length > 1) {
    throw new SvcError('invalid_input', `${flag} takes one tool, not "${text}".`, {
      hint: `Repeat it for each tool: ${several.map((one) => `${flag} ${one.trim()}`).join(' ')}`,
    });
  }
  const [, mcpServer, tool] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (mcpServer === undefined || tool === undefined) {
    throw new SvcError(
      'invalid_input',
      `${flag} must be MCPSERVER/TOOL, such as files/read_file or 'files/*', not "${text}".`,
    );
  }
  return { mcpServer, tool: isToolPattern(tool) ? parseToolPattern(tool) : tool };
}

export function textOfRef({ mcpServer, tool }: ToolRef): string {
  return `${mcpServer}/${tool}`;
}

/**
 * Refuses tools that their MCP server does not offer, and patterns without a match, unless `allowMissing`. An unknown
 * MCP server is refused in any case.
 */
export async function checkToolRefs(
  { backend, workspace }: Tenancy,
  refs: readonly ToolRef[],
  { allowMissing }: { readonly allowMissing: boolean },
): Promise<void> {
  if (refs.length === 0) return;
  const known = await fetchServers(backend, workspace.id);
  const byServer = [...Map.groupBy(refs, ({ mcpServer }) => mcpServer)].map(([name, own]) => ({
    server: named('MCP server', known, name),
    own,
  }));
  if (allowMissing) return;
  const problems = await inParallel(byServer, async ({ server, own }) =>
    problemsOf(server, await fetchTools(backend, workspace.id, server.id), own),
  );
  const [first, ...others] = problems.flat();
  if (first === undefined) return;
  const more = others.map(({ message }) => `\n${message}`).join('');
  throw new SvcError('not_found', `${first.message}${more}`, { hint: `${first.hint}\n${allowed}` });
}

const allowed = 'To name it before the MCP server offers it, add --allow-missing.';

interface MissingTool {
  readonly message: string;
  readonly hint: string;
}

function problemsOf(server: McpServer, tools: readonly Tool[], refs: readonly ToolRef[]): readonly MissingTool[] {
  const offered = tools.filter(({ listed }) => listed).map(({ originalName }) => originalName);
  if (offered.length === 0) return [withoutTools(server)];
  return refs.flatMap(({ tool }) => {
    if (isToolPattern(tool)) return offered.some(toolMatcher(tool)) ? [] : [withoutMatch(server, tool, offered)];
    return offered.includes(tool) ? [] : [notOffered(server, tool, offered)];
  });
}

function withoutTools({ name, status, reason }: McpServer): MissingTool {
  const hint = `Show it: svc server show ${name}`;
  if (status === 'Connected') return { message: `The MCP server "${name}" offers no tools.`, hint };
  const cause = reason === null ? '' : ` ${oneLine(reason.message)}`;
  return { message: `The MCP server "${name}" has not listed its tools yet: it is ${status}.${cause}`, hint };
}

function withoutMatch({ name }: McpServer, pattern: string, offered: readonly string[]): MissingTool {
  return { message: `No tool of the MCP server "${name}" matches "${oneLine(pattern)}".`, hint: listOf(name, offered) };
}

function notOffered({ name }: McpServer, tool: string, offered: readonly string[]): MissingTool {
  const near = nearest(tool, offered);
  return {
    message: `The MCP server "${name}" offers no tool "${oneLine(tool)}".`,
    hint: near === null ? listOf(name, offered) : `Did you mean "${name}/${oneLine(near)}"?`,
  };
}

const listedMax = 20;

function listOf(name: string, offered: readonly string[]): string {
  const more = offered.length > listedMax ? `, and ${offered.length - listedMax} more: svc server show ${name}` : '';
  return `It offers: ${offered.slice(0, listedMax).map(oneLine).join(', ')}${more}.`;
}
