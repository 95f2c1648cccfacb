import { z } from 'zod';
import { clientOf } from '../backend-client.ts';
import type { Installation } from '../installation.ts';
import type { PlatformRecord } from '../state/platform-record.ts';

const reason = z.object({ code: z.string(), message: z.string(), repair: z.string() });
const mcpServer = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  health: z.string(),
  reason: reason.nullable(),
});
const runtime = z.object({ id: z.string(), name: z.string(), available: z.boolean() });
const page = <Item extends z.ZodType>(item: Item) => z.object({ nodes: z.array(item) });
const answer = z.object({
  platformRuntimes: page(runtime),
  workspaces: page(z.object({ name: z.string(), mcpServers: page(mcpServer), runtimes: page(runtime) })),
});

/** What people put into the platform, as far as a status shows it: the first hundred of each list. */
export interface Content {
  readonly mcpServers: readonly (z.infer<typeof mcpServer> & { readonly workspace: string })[];
  readonly runtimes: readonly z.infer<typeof runtime>[];
}

export const noContent: Content = { mcpServers: [], runtimes: [] };

const query = `{
  platformRuntimes { nodes { id name available } }
  workspaces {
    nodes {
      name
      mcpServers { nodes { id name status health reason { code message repair } } }
      runtimes { nodes { id name available } }
    }
  }
}`;

/** A status must come in time: what can't be asked for then is left out, and the backend's own row says why. */
const timeoutMs = 3000;

export async function readContent(
  installation: Installation,
  running: PlatformRecord,
  signal: AbortSignal | undefined,
): Promise<Content> {
  if (running.services.find(({ name }) => name === 'backend')?.state !== 'healthy') return noContent;
  try {
    const { platformRuntimes, workspaces } = await clientOf(installation, running).query(query, {}, answer.parse, {
      timeoutMs,
      signal,
    });
    return {
      mcpServers: workspaces.nodes.flatMap(({ name: workspace, mcpServers }) =>
        mcpServers.nodes.map((server) => ({ ...server, workspace })),
      ),
      runtimes: [...platformRuntimes.nodes, ...workspaces.nodes.flatMap(({ runtimes }) => runtimes.nodes)],
    };
  } catch (error) {
    if (signal?.aborted) throw error;
    return noContent;
  }
}
