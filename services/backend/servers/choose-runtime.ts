import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { closestName } from '../closest-name.ts';
import { type Graph, type Node, pageMax } from '../graph/graph.ts';

/** `home` of the platform's own runtimes, which serve every workspace. */
export const platformHome = 'platform';

/** The runtime of that name, the workspace's own before the platform's; without a name the platform's first, else the workspace's. */
export async function chooseRuntime(
  graph: Pick<Graph, 'select'>,
  workspace: WorkspaceId,
  name: string | null | undefined,
): Promise<Node<'runtime'>> {
  const own = await runtimesOf(graph, workspace);
  const platform = await runtimesOf(graph, platformHome);
  if (name == null) {
    const [first] = [...platform, ...own];
    if (first !== undefined) return first;
    throw new SvcError('unavailable', 'There is no runtime yet that could run an MCP server.', {
      hint: 'Start the platform (svc up), or register one: svc runtime register NAME',
    });
  }
  const candidates = [...own, ...platform];
  const chosen = candidates.find((runtime) => runtime.name === name.trim());
  if (chosen !== undefined) return chosen;
  const names = candidates.map((runtime) => runtime.name);
  const near = closestName(name, names);
  throw new SvcError('invalid_input', `There is no runtime "${name.slice(0, 80)}" for this workspace.`, {
    hint: near !== null ? `Did you mean "${near}"?` : `There are: ${names.slice(0, 20).join(', ') || 'none'}.`,
  });
}

async function runtimesOf(graph: Pick<Graph, 'select'>, home: string): Promise<readonly Node<'runtime'>[]> {
  const { nodes } = await graph.select({
    type: 'runtime',
    anchor: null,
    where: [{ field: 'home', equals: home }],
    orderBy: 'createdAt',
    limit: pageMax,
  });
  return nodes.filter(({ revokedAt }) => revokedAt === null);
}
