import { z } from 'zod';
import { type BackendClient, clientOf, isBackend, type Reached } from '../client/backend-client.ts';
import { everyPage, pageInfo } from '../client/every-page.ts';
import { readPages } from '../client/read-pages.ts';
import { reason } from '../client/reason.ts';
import type { Installation } from '../state/installation.ts';
import type { ServiceState } from '../state/transition.ts';

const serverFields = 'id name status health reason { code message repair } sandboxes';
const mcpServer = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  health: z.string(),
  reason: reason.nullable(),
  /** How it is kept apart, where it runs: none or bwrap. */
  sandboxes: z.array(z.string()),
});
const runtimeFields = 'id name available sandboxes';
const runtime = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  sandboxes: z.array(z.string()),
});

/** What people put into the platform, as far as a status shows it. */
export interface Content {
  readonly mcpServers: readonly (z.infer<typeof mcpServer> & { readonly workspace: string })[];
  readonly runtimes: readonly z.infer<typeof runtime>[];
}

export const noContent: Content = { mcpServers: [], runtimes: [] };

const pageOf = <Item extends z.ZodType>(item: Item) => z.object({ nodes: z.array(item), pageInfo });
const askRuntimes = `query ($first: Int, $after: String) {
  platformRuntimes(first: $first, after: $after) { nodes { ${runtimeFields} } pageInfo { next } }
}`;
const platformRuntimes = z.object({ platformRuntimes: pageOf(runtime) });

/** Workspaces with the first page of what each holds, which is almost always all of it. */
const askWorkspaces = `query ($first: Int, $after: String) {
  workspaces(first: $first, after: $after) {
    nodes {
      id name
      mcpServers(first: $first) { nodes { ${serverFields} } pageInfo { next } }
      runtimes(first: $first) { nodes { ${runtimeFields} } pageInfo { next } }
    }
    pageInfo { next }
  }
}`;
const workspace = z.object({
  id: z.string(),
  name: z.string(),
  mcpServers: pageOf(mcpServer),
  runtimes: pageOf(runtime),
});
const workspaces = z.object({ workspaces: pageOf(workspace) });

/** A status must come in time: what can't be asked for then is left out, and the backend's own row says why. */
const timeoutMs = 3000;

/** A platform of which is known how its services are. */
export interface Seen extends Reached {
  readonly services: readonly (Reached['services'][number] & { readonly state: ServiceState })[];
}

export async function readContent(
  installation: Installation,
  running: Seen,
  signal: AbortSignal | undefined,
): Promise<Content> {
  if (!running.services.some(({ name, state }) => isBackend(name) && state === 'healthy')) return noContent;
  const deadline = AbortSignal.timeout(timeoutMs);
  const within = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    return await readAll(clientOf(installation, running), within);
  } catch (error) {
    if (signal?.aborted) throw error;
    return noContent;
  }
}

async function readAll(backend: BackendClient, signal: AbortSignal): Promise<Content> {
  const [ofPlatform, all] = await Promise.all([
    everyPage(
      async (first, after) =>
        (await backend.query(askRuntimes, { first, after }, platformRuntimes.parse, { signal })).platformRuntimes,
    ),
    everyPage(
      async (first, after) =>
        (await backend.query(askWorkspaces, { first, after }, workspaces.parse, { signal })).workspaces,
    ),
  ]);
  const mcpServers: Content['mcpServers'][number][] = [];
  const runtimes = [...ofPlatform];
  for (const { id: workspaceId, name, ...begun } of all) {
    const of = { backend, workspaceId, signal };
    const servers = { list: 'mcpServers', fields: serverFields, item: mcpServer, firstPage: begun.mcpServers };
    const own = { list: 'runtimes', fields: runtimeFields, item: runtime, firstPage: begun.runtimes };
    for (const server of await readPages({ ...of, ...servers })) mcpServers.push({ ...server, workspace: name });
    runtimes.push(...(await readPages({ ...of, ...own })));
  }
  return { mcpServers, runtimes };
}
