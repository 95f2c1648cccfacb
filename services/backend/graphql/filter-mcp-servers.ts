import type { RuntimeId, WorkspaceId } from '../../contracts/ids.ts';
import { startingCode } from '../../contracts/reason-codes.ts';
import { mcpServersMax } from '../../contracts/workspace-limits.ts';
import type { Graph, Node, Page } from '../graph/graph.ts';
import { runtimesPerServerMax, runtimesRunning } from '../servers/bound-runtimes.ts';
import type { ServerState } from '../servers/status.ts';
import type { GraphqlContext } from './builder.ts';
import { fillPage } from './fill-page.ts';
import { type pageOf, pageSizeMax } from './paging.ts';

interface Filtered {
  readonly workspace: WorkspaceId;
  readonly page: ReturnType<typeof pageOf>;
  /** Picks those of a slice that belong to the list. */
  readonly matches: readonly ServerFilter[];
}

type Servers = readonly Node<'mcpServer'>[];
export type ServerFilter = (servers: Servers) => Promise<Servers>;

/** As many as a workspace has MCP servers. */
const slicesMax = mcpServersMax / pageSizeMax;

/** A page of the MCP servers that match, by name. */
export async function filterServers(
  graph: Pick<Graph, 'select'>,
  { workspace, page, matches }: Filtered,
): Promise<Page<'mcpServer'>> {
  return await fillPage<'mcpServer'>(page, {
    read: (slice) => graph.select({ type: 'mcpServer', anchor: workspace, orderBy: 'name', ...page, ...slice }),
    pick: async (servers) => {
      let kept: Servers = servers;
      for (const match of matches) kept = await match(kept);
      return kept;
    },
    slicesMax,
  });
}

/** Those that a runtime runs. */
export function runBy(runtime: RuntimeId, { backend, load }: Pick<GraphqlContext, 'backend' | 'load'>): ServerFilter {
  return async (servers) => {
    const shared = await runtimesRunning(backend.graph, []);
    const running = await Promise.all(
      servers.map(async (server) => {
        const bound = await load.runtimesOfServer(server, runtimesPerServerMax);
        return (bound.length > 0 ? bound : shared).some(({ id }) => id === runtime);
      }),
    );
    return servers.filter((_, index) => running[index]);
  };
}

/** Those that should be Connected and are not; or all others. */
export function failing(
  isFailing: boolean,
  stateOf: (server: Node<'mcpServer'>) => Promise<ServerState>,
): ServerFilter {
  return async (servers) => {
    const states = await Promise.all(servers.map(stateOf));
    return servers.filter((server, index) => fails(server, states[index]) === isFailing);
  };
}

function fails({ enabled }: Node<'mcpServer'>, state: ServerState | undefined): boolean {
  return enabled && state?.status !== 'Connected' && state?.reason?.code !== startingCode;
}
