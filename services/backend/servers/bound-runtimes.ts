import { nearest } from '../../contracts/did-you-mean.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { type Graph, type Node, pageMax } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';

/** Runtimes one MCP server may be bound to. */
export const runtimesPerServerMax = 100;

/** An MCP server is bound to the given runtime, or to none: then the platform's own runtimes run it. */
export async function getRuntimeNamed(
  graph: Pick<Graph, 'select'>,
  workspace: WorkspaceId,
  name: string,
): Promise<Node<'runtime'>> {
  const candidates = [...(await runtimesAt(graph, workspace)), ...(await runtimesAt(graph, platformHome))];
  const found = candidates.find((runtime) => runtime.name === name.trim());
  if (found !== undefined) return found;
  const names = candidates.map((runtime) => runtime.name);
  const near = nearest(name, names);
  throw new SvcError('not_found', `This workspace has no runtime "${name.slice(0, 80)}".`, {
    hint: near !== null ? `Did you mean "${near}"?` : `There are: ${names.slice(0, 20).join(', ') || 'none'}.`,
  });
}

/** The runtimes that run an MCP server, from those it is bound to. */
export async function runtimesRunning(
  graph: Pick<Graph, 'select'>,
  bound: readonly Node<'runtime'>[],
): Promise<readonly Node<'runtime'>[]> {
  return bound.length > 0 ? bound : await runtimesAt(graph, platformHome);
}

async function runtimesAt(graph: Pick<Graph, 'select'>, home: string): Promise<readonly Node<'runtime'>[]> {
  const { nodes } = await graph.select({
    type: 'runtime',
    anchor: null,
    where: [{ field: 'home', equals: home }],
    orderBy: 'createdAt',
    limit: pageMax,
  });
  return nodes.filter(({ revokedAt }) => revokedAt === null);
}
