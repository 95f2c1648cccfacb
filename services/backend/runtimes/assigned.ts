import { SvcError } from '../../contracts/errors.ts';
import type { McpServerId, RuntimeId, WorkspaceId } from '../../contracts/ids.ts';
import { parseId } from '../../contracts/ids.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { runtimesPerServerMax } from '../servers/bound-runtimes.ts';

/**
 * The assignments of a runtime: MCP servers bound to it; for the platform's own runtimes also those bound to none. A
 * customer's runtime runs nothing of another workspace, whatever an edge says.
 */

type Server = Node<'mcpServer'>;
type Runtime = Pick<Node<'runtime'>, 'id' | 'home'>;

/** MCP servers looked up at once. */
const pageMax = 200;

/** Throws `unauthenticated` when it was revoked: called before its message is parsed. */
export async function requireRuntime(graph: Graph, id: RuntimeId): Promise<Node<'runtime'>> {
  const runtime = await graph.find('runtime', id, null);
  if (runtime === null || runtime.revokedAt !== null) {
    throw runtimeRevoked(runtime);
  }
  return runtime;
}

/** The reason is the same, whether the bus or a message of the runtime is refused first. */
export function runtimeRevoked(runtime: Pick<Node<'runtime'>, 'name'> | null): SvcError {
  const which = runtime === null ? 'This runtime' : `The runtime "${runtime.name}"`;
  return new SvcError('unauthenticated', `${which} was revoked.`, {
    hint: 'Ask the operator of the platform to register it again: svc runtime register NAME.',
  });
}

/** All assignments of a runtime, ordered by id, a page at a time. */
export async function* assignedServers(graph: Graph, runtime: Runtime): AsyncGenerator<readonly Server[], void> {
  const pages = everyPage(graph, { type: 'mcpServer', anchor: anchorOf(runtime), limit: pageMax });
  for await (const servers of pages) {
    yield await onlyAssigned(
      graph,
      runtime,
      servers.filter((server) => server.enabled),
    );
  }
}

/**
 * Those of the named MCP servers that belong to this runtime. Disabled ones count, because a report about one that was
 * just disabled is still accepted.
 */
export async function findAssigned(
  graph: Graph,
  runtime: Runtime,
  ids: readonly McpServerId[],
): Promise<ReadonlyMap<McpServerId, Server>> {
  const found: Server[] = [];
  for (let from = 0; from < ids.length; from += pageMax) {
    const page = ids.slice(from, from + pageMax).map((id) => graph.find('mcpServer', id, anchorOf(runtime)));
    const servers = (await Promise.all(page)).filter((server) => server !== null);
    found.push(...(await onlyAssigned(graph, runtime, servers)));
  }
  return new Map(found.map((server) => [server.id, server]));
}

/**
 * Those of the named MCP servers that no longer exist; disabled or moved ones still do. A handshake names few enough to
 * find all at once.
 */
export async function findRemoved(
  graph: Graph,
  runtime: Runtime,
  ids: readonly McpServerId[],
): Promise<readonly McpServerId[]> {
  const found = await Promise.all(ids.map((id) => graph.find('mcpServer', id, anchorOf(runtime))));
  return ids.filter((_, at) => found[at] === null);
}

async function onlyAssigned(graph: Graph, runtime: Runtime, servers: readonly Server[]): Promise<readonly Server[]> {
  const bound = await graph.follow(
    { from: 'mcpServer', edge: 'runtimes' },
    servers.map(({ id }) => id),
    { anchor: anchorOf(runtime), limitEach: runtimesPerServerMax },
  );
  return servers.filter((server) =>
    runs(
      runtime,
      (bound.get(server.id) ?? []).map(({ id }) => id),
    ),
  );
}

function runs({ id, home }: Runtime, bound: readonly RuntimeId[]): boolean {
  return bound.length === 0 ? home === platformHome : bound.includes(id);
}

function anchorOf({ home }: Runtime): WorkspaceId | 'everywhere' {
  return home === platformHome ? 'everywhere' : parseId('workspace', home);
}
