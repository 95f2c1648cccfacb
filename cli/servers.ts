import { z } from 'zod';
import { authors } from '../services/contracts/sandbox.ts';
import { withoutSecretWords } from '../services/contracts/secret-words.ts';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage, pageInfo } from '../stack/client/every-page.ts';
import { readPages } from '../stack/client/read-pages.ts';
import { reason } from '../stack/client/reason.ts';
import { named } from './platform.ts';

const fields = `id name kind enabled status health reason { code message repair } restarts lastStartedAt nextRetryAt stderr
  runtimes { id name available } launch { command args cwd url envNames headerNames setBy }`;

const mcpServer = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['child', 'http']),
  enabled: z.boolean(),
  status: z.enum(['Connected', 'Disconnected', 'Error']),
  health: z.enum(['green', 'yellow', 'red']),
  reason: reason.nullable(),
  restarts: z.number(),
  lastStartedAt: z.number().nullable(),
  nextRetryAt: z.number().nullable(),
  stderr: z.array(z.string()),
  runtimes: z.array(z.object({ id: z.string(), name: z.string(), available: z.boolean() })),
  launch: z
    .object({
      command: z.string().nullable(),
      args: z.array(z.string()).nullable(),
      cwd: z.string().nullable(),
      url: z.string().nullable(),
      envNames: z.array(z.string()),
      headerNames: z.array(z.string()),
      setBy: z.enum(authors),
    })
    .nullable()
    .transform((launch) => (launch === null ? null : withoutSecrets(launch))),
});
export type McpServer = z.infer<typeof mcpServer>;

interface Shown {
  readonly command: string | null;
  readonly args: string[] | null;
  readonly url: string | null;
}

/** An older launch may have a secret in its arguments: it is not shown. */
function withoutSecrets<Launch extends Shown>(launch: Launch): Launch {
  const [url = null] = launch.url === null ? [] : withoutSecretWords([launch.url]);
  if (launch.command === null || launch.args === null) return { ...launch, url };
  const [command = null, ...args] = withoutSecretWords([launch.command, ...launch.args]);
  return { ...launch, command, args, url };
}

const tool = z.object({
  name: z.string().nullable(),
  originalName: z.string(),
  description: z.string().nullable(),
  listed: z.boolean(),
});
export type Tool = z.infer<typeof tool>;

const oneServer = z.object({ workspace: z.object({ mcpServer: mcpServer.nullable() }) });
const toolPage = z.object({
  workspace: z.object({ mcpServer: z.object({ tools: z.object({ nodes: z.array(tool), pageInfo }) }) }),
});

export function fetchServers(backend: BackendClient, workspaceId: string): Promise<McpServer[]> {
  return readPages({ backend, workspaceId, list: 'mcpServers', fields, item: mcpServer });
}

export async function fetchServer(backend: BackendClient, workspace: string, id: string): Promise<McpServer | null> {
  const answer = await backend.query(
    `query ($workspace: ID, $id: ID) { workspace(id: $workspace) { mcpServer(id: $id) { ${fields} } } }`,
    { workspace, id },
    oneServer.parse,
  );
  return answer.workspace.mcpServer;
}

export async function getServer(backend: BackendClient, workspace: string, given: string): Promise<McpServer> {
  return named('MCP server', await fetchServers(backend, workspace), given);
}

/** Names of those that are bound to a runtime. */
export function boundTo(runtime: string, servers: readonly McpServer[]): readonly string[] {
  return servers.filter(({ runtimes }) => runtimes.some(({ id }) => id === runtime)).map(({ name }) => name);
}

export function fetchTools(backend: BackendClient, workspace: string, server: string): Promise<Tool[]> {
  return everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($workspace: ID, $id: ID, $first: Int, $after: String) {
        workspace(id: $workspace) { mcpServer(id: $id) { tools(first: $first, after: $after) {
          nodes { name originalName description listed } pageInfo { next }
        } } }
      }`,
      { workspace, id: server, first, after },
      toolPage.parse,
    );
    return answer.workspace.mcpServer.tools;
  });
}
