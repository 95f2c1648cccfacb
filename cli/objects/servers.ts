import { SvcError } from '../../services/contracts/errors.ts';
import { withoutSecretWords } from '../../services/contracts/secret-words.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import {
  type McpServerFragment,
  mcpServerQuery,
  mcpServersQuery,
  type ToolFragment,
  toolsOfMcpServerQuery,
} from '../../stack/client/generated/operations.ts';
import { named, type Tenancy } from './platform.ts';

export type McpServer = McpServerFragment;
export type Tool = ToolFragment;

/** An older launch may have a secret in its arguments, which nothing may show. */
function withoutSecrets({ launch, ...server }: McpServer): McpServer {
  if (launch === null) return { ...server, launch };
  const [url = null] = launch.url === null ? [] : withoutSecretWords([launch.url]);
  if (launch.command === null || launch.args === null) return { ...server, launch: { ...launch, url } };
  const [command = null, ...args] = withoutSecretWords([launch.command, ...launch.args]);
  return { ...server, launch: { ...launch, command, args, url } };
}

export async function fetchServers(backend: BackendClient, workspace: string): Promise<McpServer[]> {
  return (await fetchStored(backend, workspace)).map(withoutSecrets);
}

function fetchStored(backend: BackendClient, workspace: string): Promise<McpServer[]> {
  return everyPage(async (page) => (await backend.send(mcpServersQuery, { workspace, ...page })).workspace?.mcpServers);
}

export async function fetchServer(backend: BackendClient, workspace: string, id: string): Promise<McpServer | null> {
  const server = (await backend.send(mcpServerQuery, { workspace, id })).workspace?.mcpServer ?? null;
  return server === null ? null : withoutSecrets(server);
}

/** With the arguments as they are stored, for a command that sends them back. */
export async function getStoredServer(backend: BackendClient, workspace: string, given: string): Promise<McpServer> {
  return named('MCP server', await fetchStored(backend, workspace), given);
}

export async function getServer(backend: BackendClient, workspace: string, given: string): Promise<McpServer> {
  return named('MCP server', await fetchServers(backend, workspace), given);
}

/** Throws as the backend does when another MCP server has the name. */
export async function refuseTaken({ backend, workspace }: Tenancy, given: string): Promise<void> {
  const name = given.trim();
  if (!(await fetchServers(backend, workspace.id)).some((server) => server.name === name)) return;
  throw new SvcError('conflict', `Another MCP server is named "${name}" already.`, {
    hint: 'Choose another name, or change that one: svc server update NAME',
  });
}

/** Refuses what needs a running process, if the MCP server has none. */
export function refuseStopped({ name, enabled, runtimes }: McpServer): void {
  if (!enabled) {
    throw new SvcError('conflict', `The MCP server "${name}" is disabled.`, {
      hint: `Enable it: svc server enable ${name}`,
    });
  }
  if (runtimes.some(({ available }) => available)) return;
  throw new SvcError('unavailable', `No runtime of the MCP server "${name}" is connected.`, {
    hint: 'List the runtimes: svc runtime list',
  });
}

/** The MCP servers that are bound to a runtime. */
export function boundTo(runtime: string, servers: readonly McpServer[]): readonly McpServer[] {
  return servers.filter(({ runtimes }) => runtimes.some(({ id }) => id === runtime));
}

export function fetchTools(backend: BackendClient, workspace: string, id: string): Promise<Tool[]> {
  return everyPage(
    async (page) => (await backend.send(toolsOfMcpServerQuery, { workspace, id, ...page })).workspace?.mcpServer?.tools,
  );
}
