import { createServer, type Server } from 'node:http';
import { z } from 'zod';
import { connectToBackend } from '../../client/backend-client.ts';
import type { Installation } from '../../state/installation.ts';
import { readRecord } from '../../state/platform-record.ts';
import { until } from '../../test/until.ts';

export async function readWorkspaces(installation: Installation) {
  const backend = await connectToBackend(installation);
  const answer = z.object({
    workspaces: z.object({
      nodes: z.array(z.object({ id: z.string(), name: z.string(), owner: z.object({ email: z.string() }) })),
    }),
  });
  const { workspaces } = await backend.query('{ workspaces { nodes { id name owner { email } } } }', {}, answer.parse);
  return workspaces.nodes;
}

/** What only a running platform can be given. */
export async function addMcpServer(
  installation: Installation,
  input: object = { name: 'since', launch: { url: 'http://127.0.0.1:9' } },
): Promise<void> {
  const backend = await connectToBackend(installation);
  const [workspace] = await readWorkspaces(installation);
  await backend.query(
    'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }',
    { workspace: workspace?.id, input },
    () => undefined,
  );
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
