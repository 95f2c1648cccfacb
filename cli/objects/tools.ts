import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type ToolsQuery, toolsQuery } from '../../stack/client/generated/operations.ts';
import type { Tenancy } from './platform.ts';

type WorkspaceTool = NonNullable<ToolsQuery['workspace']>['tools']['nodes'][number];

/** A tool that its MCP server lists. */
export interface ListedTool {
  /** As MCPSERVER/TOOL. */
  readonly path: string;
  /** The name under which agents call it. */
  readonly name: string;
  readonly description: string | null;
  readonly mcpServer: string;
  /** Its MCP server is Connected. */
  readonly available: boolean;
}

/** All listed tools of the workspace, those of one MCP server together. */
export async function fetchTools({ backend, workspace }: Tenancy): Promise<readonly ListedTool[]> {
  const tools = await everyPage(
    async (page) => (await backend.send(toolsQuery, { workspace: workspace.id, ...page })).workspace?.tools,
  );
  return tools.flatMap(listed).sort((one, other) => (one.path < other.path ? -1 : 1));
}

function listed({ name, originalName, description, listed, mcpServer }: WorkspaceTool): readonly ListedTool[] {
  if (!listed || name === null) return [];
  const available = mcpServer.status === 'Connected';
  return [{ path: `${mcpServer.name}/${originalName}`, name, description, mcpServer: mcpServer.name, available }];
}

/** Finds by MCPSERVER/TOOL or by the name for agents. */
export function toolNamed(tools: readonly ListedTool[], given: string): ListedTool {
  const found = tools.find(({ path, name }) => path === given || name === given);
  if (found !== undefined) return found;
  const known = tools.map(({ path }) => path);
  throw new SvcError('not_found', `No MCP server offers the tool "${given}". ${suggestion(given, known)}`, {
    hint: 'List the tools: svc tool list',
  });
}
