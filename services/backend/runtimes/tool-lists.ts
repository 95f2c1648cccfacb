import { type Reason, reason } from '../../contracts/bus/messages.ts';
import { commandProcesses } from '../bus/command-processes.ts';
import { findSender, type Sender } from '../bus/sender.ts';
import type { WithBus } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';

/**
 * An MCP server has one list of tools. If several processes run it with different lists, the list of the process that
 * was Connected first counts while that process lives. So agents see no alternation. The other lists are set aside with
 * a reason, and requested again when the list that counts changes or its process ends.
 */

/** Code of the reason why a process's list of tools does not count. */
const setAsideCode = 'tools_set_aside';
/** Code of the reason why the list that counts is not visible yet. */
const storingCode = 'tools_being_stored';

type Server = Pick<Node<'mcpServer'>, 'id' | 'name' | 'workspace' | 'configVersion'>;
type Status = Node<'status'>;

/** Statuses of the other processes for the MCP server. */
export async function othersThan(
  graph: Pick<Graph, 'select'>,
  process: Sender,
  server: Server,
): Promise<readonly Status[]> {
  const others: Status[] = [];
  for await (const statuses of statusesOf(graph, { mcpServer: server.id, workspace: server.workspace })) {
    others.push(...statuses.filter((status) => !isOf(status, process)));
  }
  return others;
}

/** Whether its process is Connected and its list the one that counts, or equal to it. */
export function counts(status: Status, server: Server): boolean {
  return isCurrent(status, server) && status.status === 'Connected' && !isSaidOfList(status);
}

function isSaidOfList(status: Status): boolean {
  return hasCode(status, setAsideCode) || hasCode(status, storingCode);
}

/** Whether its list will be the one that counts. */
export function isBeingStored(status: Status, server: Server): boolean {
  return isCurrent(status, server) && hasCode(status, storingCode);
}

export const storingReason: Reason = {
  code: storingCode,
  message: 'Its tools are being stored.',
  repair: 'Wait a moment and look again.',
};

export const setAsideReason: Reason = {
  code: setAsideCode,
  message:
    'It lists other tools in this process than in one that was Connected before it. Agents see the list of that one.',
  repair: 'Make both processes run the same version of it; restart the MCP server to have its list read again.',
};

/**
 * Requests the lists of the processes other than `except` again: of those that were set aside or, after a change, of
 * all.
 */
export async function askForListsAgain(
  { bus, graph }: WithBus & WithGraph,
  of: { readonly mcpServer: string; readonly workspace: Server['workspace'] },
  changedBy: Sender | null = null,
): Promise<void> {
  for await (const statuses of statusesOf(graph, of)) {
    for (const status of statuses) {
      const isMeant = changedBy === null ? hasCode(status, setAsideCode) : !isOf(status, changedBy);
      const sender = findSender(status);
      if (isMeant && sender !== null) commandProcesses(bus, [sender], { kind: 'assignments' });
    }
  }
}

function isOf(status: Status, { runtime, process }: Sender): boolean {
  return status.runtime === runtime && status.process === process;
}

function isCurrent({ configVersion }: Status, server: Server): boolean {
  return configVersion === server.configVersion;
}

function hasCode({ toolsReason }: Status, code: string): boolean {
  return toolsReason !== null && reason.parse(JSON.parse(toolsReason)).code === code;
}

function statusesOf(
  graph: Pick<Graph, 'select'>,
  of: { readonly mcpServer: string; readonly workspace: Server['workspace'] },
) {
  const where = [{ field: 'mcpServer' as const, equals: of.mcpServer }];
  return everyPage(graph, { type: 'status', anchor: of.workspace, where, limit: 100 });
}
