import { z } from 'zod';
import type { ReportedTool } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { giveWay } from '../../kit/give-way.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';
import { candidateNames } from './tool-names.ts';

type Server = Pick<Node<'mcpServer'>, 'id' | 'name' | 'workspace'>;

/** Tools stored at once: a slice is one transaction and must not delay others for more than a few milliseconds. */
export const toolSliceMax = 25;
/** Limits the effect of one MCP server on its workspace's catalogue. */
export const toolsPerServerMax = 5000;
const definitionLengthMax = 262_144;

/** The result of storing a slice of a list. */
export interface StoreResult {
  readonly leftOut: readonly LeftOut[];
  readonly hasChanged: boolean;
}

/** A tool that is not stored, and why: shown at the MCP server's status. */
export interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/**
 * Stores a slice of the tools that an MCP server lists. A new tool gets a permanent name; a definition is written only
 * when it differs. Without a difference there is no transaction.
 */
export async function storeTools(graph: Graph, server: Server, tools: readonly ReportedTool[]): Promise<StoreResult> {
  const { leftOut, changed } = await compareTools(graph, server, tools);
  if (changed.length > 0) {
    await graph.write(async (transaction) => {
      for (const tool of changed) await storeTool(transaction, server, tool);
    });
  }
  return { leftOut, hasChanged: changed.length > 0 };
}

/** The parts of a slice that differ from the stored ones, and those that cannot be stored. */
export async function compareTools(
  graph: Graph,
  server: Server,
  tools: readonly ReportedTool[],
): Promise<{ readonly leftOut: readonly LeftOut[]; readonly changed: readonly ReportedTool[] }> {
  const leftOut: LeftOut[] = [];
  const changed: ReportedTool[] = [];
  for (const tool of tools) {
    // A stored tool was checked when it came.
    if (isStored(await findTool(graph, server, tool), tool)) continue;
    await giveWay();
    const why = whyRefused(tool);
    if (why === null) changed.push(tool);
    else leftOut.push({ name: tool.name, why });
  }
  return { leftOut, changed };
}

/** Whether the stored list has tools that are not named. */
export async function listsMore(graph: Graph, server: Server, named: ReadonlySet<string>): Promise<boolean> {
  for await (const tools of pagesOfTools(graph, server)) {
    if (tools.some((tool) => tool.listed && !named.has(tool.originalName))) return true;
  }
  return false;
}

/**
 * Marks tools that an MCP server no longer lists as unlisted, and returns whether there were any. Their names are kept
 * in case it lists them again.
 */
export async function unlistTools(graph: Graph, server: Server, listed: ReadonlySet<string>): Promise<boolean> {
  let stored = 0;
  let hasChanged = false;
  for await (const tools of pagesOfTools(graph, server)) {
    stored += tools.length;
    const gone = tools.filter((tool) => tool.listed && !listed.has(tool.originalName));
    if (gone.length === 0) continue;
    hasChanged = true;
    const anchor = server.workspace;
    await graph.write(async (transaction) => {
      for (const { id } of gone) await transaction.update('tool', id, { listed: false }, { anchor });
    });
  }
  if (stored > toolsPerServerMax) await forgetUnused(graph, server);
  return hasChanged;
}

/**
 * An MCP server that lists other names every day must not fill the graph. Beyond the limit, tools that are unlisted and
 * in no skill are removed.
 */
async function forgetUnused(graph: Graph, server: Server): Promise<void> {
  for await (const tools of pagesOfTools(graph, server)) {
    const unlisted = tools.filter((tool) => !tool.listed).map(({ id }) => id);
    if (unlisted.length === 0) continue;
    await graph.write(async (transaction) => {
      const options = { anchor: server.workspace, limitEach: 1 };
      const users = await transaction.followBack({ from: 'skill', edge: 'tools' }, unlisted, options);
      const unused = unlisted.filter((id) => (users.get(id) ?? []).length === 0);
      for (const id of unused) await transaction.remove('tool', id, server.workspace);
    });
  }
}

function pagesOfTools(graph: Graph, server: Server) {
  return everyPage(graph, {
    type: 'tool',
    anchor: server.workspace,
    where: [{ field: 'mcpServer', equals: server.id }],
    limit: 100,
  });
}

async function storeTool(transaction: Transaction, server: Server, tool: ReportedTool): Promise<void> {
  const known = await findTool(transaction, server, tool);
  if (isStored(known, tool)) return;
  const listing = { definition: tool.definition, listed: true };
  if (known !== null) {
    const name = known.name ?? (await freeName(transaction, server, tool));
    await transaction.update('tool', known.id, { ...listing, name }, { anchor: server.workspace });
    return;
  }
  const made = await transaction.create('tool', {
    id: newId('tool'),
    workspace: server.workspace,
    name: await freeName(transaction, server, tool),
    originalName: tool.name,
    mcpServer: server.id,
    createdAt: Date.now(),
    ...listing,
  });
  await transaction.link({ from: 'tool', edge: 'server' }, made.id, [server.id]);
}

function findTool(graph: Pick<Graph, 'findBy'>, server: Server, tool: ReportedTool): Promise<Node<'tool'> | null> {
  return graph.findBy('tool', { mcpServer: server.id, originalName: tool.name }, server.workspace);
}

function isStored(known: Node<'tool'> | null, tool: ReportedTool): boolean {
  return known?.listed === true && known.name !== null && known.definition === tool.definition;
}

async function freeName(transaction: Transaction, server: Server, tool: ReportedTool): Promise<string> {
  const named = { mcpServer: server.id, mcpServerName: server.name, originalName: tool.name };
  for (const name of candidateNames(named)) {
    if ((await transaction.findBy('tool', { name }, server.workspace)) === null) return name;
  }
  throw new Error(`no name is free for a tool of ${server.id}`);
}

const definition = z.looseObject({ inputSchema: z.looseObject({}) });

function whyRefused(tool: ReportedTool): string | null {
  if (tool.definition.length > definitionLengthMax) {
    return `its definition is longer than ${definitionLengthMax} characters`;
  }
  if (!definition.safeParse(parseJson(tool.definition)).success) {
    return 'its definition is not a JSON object with an inputSchema';
  }
  return null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
