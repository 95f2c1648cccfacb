import { createServer, type Server } from 'node:http';
import { connectToBackend } from '../../client/backend-client.ts';
import { createMcpServerMutation, type McpServerInput } from '../../client/generated/operations.ts';
import type { Installation } from '../../state/installation.ts';
import { readRecord } from '../../state/platform-record.ts';
import { until } from '../../test/until.ts';

interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly owner: { readonly email: string };
}

export async function readWorkspaces(installation: Installation) {
  const backend = await connectToBackend(installation);
  const parse = (data: unknown) => (data as { workspaces: { nodes: readonly Workspace[] } }).workspaces.nodes;
  return parse(await backend.send({ text: '{ workspaces { nodes { id name owner { email } } } }' }, {}));
}

/** Adds an MCP server, which only a running platform accepts. */
export async function addMcpServer(
  installation: Installation,
  input: McpServerInput = { name: 'since', launch: { url: 'http://127.0.0.1:9' } },
): Promise<void> {
  const backend = await connectToBackend(installation);
  const [workspace] = await readWorkspaces(installation);
  await backend.send(createMcpServerMutation, { workspace: workspace?.id ?? '', input });
}

/** Takes the port as soon as it is free. */
export async function occupy(port: number): Promise<Server> {
  const server = createServer();
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false));
        server.listen(port, '127.0.0.1', () => resolve(true));
      }),
  );
  return server;
}

export const pidOf = (installation: Installation) => readRecord(installation)?.pid ?? 0;
