import { toSvcError } from '../../services/contracts/errors.ts';
import { type BackendClient, clientOf, isBackend, type KnownPlatform } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  healthOfMailQuery,
  healthOfMcpServersQuery,
  healthOfPlatformRuntimesQuery,
  healthOfRuntimesQuery,
  healthOfWorkspacesQuery,
  type MailHealthFragment,
  type McpServerHealthFragment,
  type RuntimeHealthFragment,
} from '../client/generated/operations.ts';
import type { Installation } from '../state/installation.ts';
import type { ServiceState } from '../state/transition.ts';

/** What people put into the platform, as far as a status shows it. */
export interface Content {
  readonly mcpServers: readonly (McpServerHealthFragment & { readonly workspace: string })[];
  readonly runtimes: readonly RuntimeHealthFragment[];
  /** Null if the backend did not answer, or is of a version without mail. */
  readonly mail: MailHealthFragment | null;
  /** Why the backend did not answer about them; null if it answered, or none runs. */
  readonly contentProblem: string | null;
}

export const noContent: Content = { mcpServers: [], runtimes: [], mail: null, contentProblem: null };

/** A status must come in time: what the backend does not tell by then is left out. */
const timeoutMs = 3000;

export interface PlatformWithStates extends KnownPlatform {
  readonly services: readonly (KnownPlatform['services'][number] & { readonly state: ServiceState })[];
}

export async function readContent(
  installation: Installation,
  running: PlatformWithStates,
  signal: AbortSignal | undefined,
): Promise<Content> {
  // A backend that misses another part still answers.
  const mayAnswer = ({ name, state }: PlatformWithStates['services'][number]) =>
    isBackend(name) && (state === 'healthy' || state === 'unhealthy');
  if (!running.services.some(mayAnswer)) return noContent;
  const deadline = AbortSignal.timeout(timeoutMs);
  const within = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    return await readAll(clientOf(installation, running), within);
  } catch (error) {
    if (signal?.aborted) throw error;
    const { message } = toSvcError(error);
    return { ...noContent, contentProblem: `MCP servers and runtimes are not shown: ${message}` };
  }
}

async function readAll(backend: BackendClient, signal: AbortSignal): Promise<Content> {
  const [mail, ofPlatform, all] = await Promise.all([
    readMail(backend, signal),
    everyPage(async (page) => (await backend.send(healthOfPlatformRuntimesQuery, page, { signal })).platformRuntimes),
    everyPage(async (page) => (await backend.send(healthOfWorkspacesQuery, page, { signal })).workspaces),
  ]);
  const mcpServers: Content['mcpServers'][number][] = [];
  const runtimes = [...ofPlatform];
  for (const { id: workspace, name, ...begun } of all) {
    const servers = await everyPage(async (page) => {
      const answer = await backend.send(healthOfMcpServersQuery, { workspace, ...page }, { signal });
      return answer.workspace?.mcpServers;
    }, begun.mcpServers);
    for (const server of servers) mcpServers.push({ ...server, workspace: name });
    const own = await everyPage(async (page) => {
      const answer = await backend.send(healthOfRuntimesQuery, { workspace, ...page }, { signal });
      return answer.workspace?.runtimes;
    }, begun.runtimes);
    runtimes.push(...own);
  }
  return { mcpServers, runtimes, mail, contentProblem: null };
}

async function readMail(backend: BackendClient, signal: AbortSignal): Promise<MailHealthFragment | null> {
  try {
    return (await backend.send(healthOfMailQuery, {}, { signal })).mail;
  } catch (error) {
    // The schema of an earlier version lacks it.
    if (toSvcError(error).code === 'invalid_input') return null;
    throw error;
  }
}
