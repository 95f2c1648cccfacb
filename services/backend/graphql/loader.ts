import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { byOriginalName } from '../../contracts/tool-pattern.ts';
import { everyPage } from '../graph/every-page.ts';
import { edgesMax, type Graph, type Node, pageMax } from '../graph/graph.ts';

/**
 * Follows edges for all nodes of a page in as few round trips as possible: `load.skillsOfRole(role, 100)`. Made for one
 * request. It caches nothing after a round trip, so that the result of a mutation shows its effect.
 */
export type Loader = ReturnType<typeof createLoader>;

export function createLoader(graph: Graph) {
  const serverOfTool = batched((tools, options) => graph.follow({ from: 'tool', edge: 'server' }, tools, options));
  const personOfMember = batched((members, options) =>
    graph.follow({ from: 'member', edge: 'person' }, members, options),
  );
  const serverOfPattern = batched((patterns, options) =>
    graph.follow({ from: 'toolPattern', edge: 'server' }, patterns, options),
  );
  const serverOfRule = batched((rules, options) => graph.follow({ from: 'toolRule', edge: 'server' }, rules, options));
  const serverOfIntegration = batched((integrations, options) =>
    graph.follow({ from: 'integration', edge: 'server' }, integrations, options),
  );
  const listings = new Map<string, Promise<readonly Node<'tool'>[]>>();
  const spokesmen = new Map<string, EdgeEnd>();
  return {
    skillsOfRole: batched((roles, options) => graph.follow({ from: 'role', edge: 'skills' }, roles, options)),
    rulesOfRole: batched((roles, options) => graph.followBack({ from: 'toolRule', edge: 'of' }, roles, options)),
    toolsOfSkill: batched((skills, options) => graph.follow({ from: 'skill', edge: 'tools' }, skills, options)),
    patternsOfSkill: batched((skills, options) =>
      graph.followBack({ from: 'toolPattern', edge: 'of' }, skills, options),
    ),
    rolesOfSkill: batched((skills, options) => graph.followBack({ from: 'role', edge: 'skills' }, skills, options)),
    keysOfUser: batched((users, options) => graph.followBack({ from: 'key', edge: 'user' }, users, options)),
    keysOfRole: batched((roles, options) => graph.followBack({ from: 'key', edge: 'roles' }, roles, options)),
    filesOfSkill: batched((skills, options) => graph.followBack({ from: 'file', edge: 'of' }, skills, options)),
    runtimesOfServer: batched((servers, options) =>
      graph.follow({ from: 'mcpServer', edge: 'runtimes' }, servers, options),
    ),
    statusesOfServer: batched((servers, options) =>
      graph.followBack({ from: 'status', edge: 'server' }, servers, options),
    ),
    integrationsOfServer: batched((servers, options) =>
      graph.followBack({ from: 'integration', edge: 'server' }, servers, options),
    ),
    serverOfIntegration: async (integration: Node<'integration'>) =>
      (await serverOfIntegration(integration, 1))[0] ?? null,
    rolesOfKey: batched((keys, options) => graph.follow({ from: 'key', edge: 'roles' }, keys, options)),
    /** Read once for all tools of an MCP server: a thousand tools belong to a few servers. */
    async serverOfTool(tool: Node<'tool'>): Promise<Node<'mcpServer'> | null> {
      const oneOfServer = spokesmen.get(tool.mcpServer) ?? tool;
      spokesmen.set(tool.mcpServer, oneOfServer);
      return (await serverOfTool(oneOfServer, 1))[0] ?? null;
    },
    serverOfPattern: async (pattern: Node<'toolPattern'>) => (await serverOfPattern(pattern, 1))[0] ?? null,
    serverOfRule: async (rule: Node<'toolRule'>) => (await serverOfRule(rule, 1))[0] ?? null,
    /** The listed tools of an MCP server. Skills that follow it at the same time share one reading. */
    listedToolsOf({ mcpServer, workspace }: Node<'toolPattern'>): Promise<readonly Node<'tool'>[]> {
      const reading = listings.get(mcpServer) ?? listedTools(graph, { mcpServer, workspace });
      listings.set(mcpServer, reading);
      return reading.finally(() => listings.delete(mcpServer));
    },
    personOfMember: async (member: Node<'member'>) => (await personOfMember(member, 1))[0] ?? null,
  };
}

async function listedTools(
  graph: Graph,
  { mcpServer, workspace: anchor }: Pick<Node<'toolPattern'>, 'mcpServer' | 'workspace'>,
): Promise<readonly Node<'tool'>[]> {
  const listed: Node<'tool'>[] = [];
  const where = [{ field: 'mcpServer', equals: mcpServer }] as const;
  for await (const tools of everyPage(graph, { type: 'tool', anchor, where, limit: pageMax })) {
    listed.push(...tools.filter((tool) => tool.listed));
  }
  return listed.sort(byOriginalName);
}

/** A slice has as many nodes as the graph can follow edges of, even if each has the maximum. */
async function inSlices<Item>(
  ids: readonly string[],
  limitEach: number,
  load: (slice: readonly string[]) => Promise<ReadonlyMap<string, Item>>,
): Promise<ReadonlyMap<string, Item>> {
  const atOnce = Math.min(pageMax, Math.floor(edgesMax / limitEach));
  const loaded = new Map<string, Item>();
  for (let from = 0; from < ids.length; from += atOnce) {
    for (const [id, item] of await load(ids.slice(from, from + atOnce))) loaded.set(id, item);
  }
  return loaded;
}

/** A node at one end of an edge. */
interface EdgeEnd {
  readonly id: string;
  readonly workspace: WorkspaceId;
}

interface Options {
  readonly anchor: WorkspaceId;
  readonly limitEach: number;
}

type LoadMany<Item> = (ids: readonly string[], options: Options) => Promise<ReadonlyMap<string, readonly Item[]>>;

interface Batch<Item> {
  readonly ids: Set<string>;
  readonly loaded: Promise<ReadonlyMap<string, readonly Item[]>>;
}

/**
 * Collects ids until the event loop turns: by then all resolvers of one level have asked, and other work gets its turn.
 */
function batched<Item>(loadMany: LoadMany<Item>): (node: EdgeEnd, limit: number) => Promise<readonly Item[]> {
  const batches = new Map<string, Batch<Item>>();
  return async (node, limit) => {
    const key = `${node.workspace} ${limit}`;
    let batch = batches.get(key);
    if (batch === undefined) {
      const ids = new Set<string>();
      const loaded = nextTurn().then(() => {
        batches.delete(key);
        return inSlices([...ids], limit, (slice) => loadMany(slice, { anchor: node.workspace, limitEach: limit }));
      });
      batch = { ids, loaded };
      batches.set(key, batch);
    }
    batch.ids.add(node.id);
    return (await batch.loaded).get(node.id) ?? [];
  };
}
