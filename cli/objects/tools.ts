import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type ToolsQuery, toolsQuery } from '../../stack/client/generated/operations.ts';
import { shownStatus } from '../output/reason.ts';
import type { Tenancy } from './platform.ts';
import { fetchServers } from './servers.ts';

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
export async function getTool(tenancy: Tenancy, given: string): Promise<ListedTool> {
  const tools = await fetchTools(tenancy);
  const found = tools.find(({ path, name }) => path === given || name === given);
  if (found !== undefined) return found;
  const [owner = ''] = given.split('/');
  const own = tools.filter(({ mcpServer }) => mcpServer === owner);
  if (own.length === 0) await refuseToolless(tenancy, owner);
  const known = (own.length === 0 ? tools : own).map(({ path }) => path);
  throw new SvcError('not_found', `No MCP server offers the tool "${given}". ${suggestion(given, known)}`, {
    hint: 'List the tools: svc tool list',
  });
}

/** Its first start may have failed: the tool that was typed may exist. */
async function refuseToolless({ backend, workspace }: Tenancy, mcpServer: string): Promise<void> {
  const server = (await fetchServers(backend, workspace.id)).find(({ name }) => name === mcpServer);
  if (server === undefined) return;
  throw new SvcError('unavailable', `The MCP server "${mcpServer}" offers no tools: it is ${shownStatus(server)}.`, {
    hint: `Show why: svc server show ${mcpServer}`,
  });
}
