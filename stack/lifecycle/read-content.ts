import { z } from 'zod';
import { type BackendClient, clientOf } from '../backend-client.ts';
import { everyPage, pageInfo, pageSize } from '../every-page.ts';
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
const pageOf = <Item extends z.ZodType>(item: Item) => z.object({ nodes: z.array(item), pageInfo });
const mcpServers = pageOf(mcpServer);
const runtimes = pageOf(runtime);
const platform = z.object({
  platformRuntimes: runtimes,
  workspaces: pageOf(z.object({ id: z.string(), name: z.string(), mcpServers, runtimes })),
});
const workspace = z.object({ workspace: z.object({ mcpServers, runtimes }) });

/** What people put into the platform, as far as a status shows it. */
export interface Content {
  readonly mcpServers: readonly (z.infer<typeof mcpServer> & { readonly workspace: string })[];
  readonly runtimes: readonly z.infer<typeof runtime>[];
}

export const noContent: Content = { mcpServers: [], runtimes: [] };

const runtimeFields = 'nodes { id name available } pageInfo { next }';
const lists = `mcpServers(first: $first, after: $servers) {
    nodes { id name status health reason { code message repair } } pageInfo { next }
  }
  runtimes(first: $first, after: $runtimes) { ${runtimeFields} }`;
const askPlatform = `query ($first: Int, $after: String, $cloud: String, $servers: String, $runtimes: String) {
  platformRuntimes(first: $first, after: $cloud) { ${runtimeFields} }
  workspaces(first: $first, after: $after) { nodes { id name ${lists} } pageInfo { next } }
}`;
const askWorkspace = `query ($id: ID, $first: Int, $servers: String, $runtimes: String) { workspace(id: $id) { ${lists} } }`;

/** A status must come in time: what can't be asked for then is left out, and the backend's own row says why. */
const timeoutMs = 3000;

export async function readContent(
  installation: Installation,
  running: PlatformRecord,
  signal: AbortSignal | undefined,
): Promise<Content> {
  if (running.services.find(({ name }) => name === 'backend')?.state !== 'healthy') return noContent;
  const deadline = AbortSignal.timeout(timeoutMs);
  const within = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    return await readAll(clientOf(installation, running), within);
  } catch (error) {
    if (signal?.aborted) throw error;
    return noContent;
  }
}

/** One question for the first page of everything, which is almost always all; then one for each page more. */
async function readAll(backend: BackendClient, signal: AbortSignal): Promise<Content> {
  const pageOfPlatform = (first: number, after: { after?: string | null; cloud?: string | null }) =>
    backend.query(askPlatform, { first, ...after }, platform.parse, { signal });
  const pageOfWorkspace = async (
    id: string,
    first: number,
    after: { servers?: string | null; runtimes?: string | null },
  ) => (await backend.query(askWorkspace, { id, first, ...after }, workspace.parse, { signal })).workspace;

  const begun = await pageOfPlatform(pageSize, {});
  const found: { mcpServers: Content['mcpServers'][number][]; runtimes: Content['runtimes'][number][] } = {
    mcpServers: [],
    runtimes: await everyPage(
      async (first, cloud) => (await pageOfPlatform(first, { cloud })).platformRuntimes,
      begun.platformRuntimes,
    ),
  };
  const workspaces = await everyPage(
    async (first, after) => (await pageOfPlatform(first, { after })).workspaces,
    begun.workspaces,
  );
  for (const one of workspaces) {
    const servers = await everyPage(
      async (first, after) => (await pageOfWorkspace(one.id, first, { servers: after })).mcpServers,
      one.mcpServers,
    );
    found.mcpServers.push(...servers.map((server) => ({ ...server, workspace: one.name })));
    found.runtimes.push(
      ...(await everyPage(
        async (first, after) => (await pageOfWorkspace(one.id, first, { runtimes: after })).runtimes,
        one.runtimes,
      )),
    );
  }
  return found;
}
