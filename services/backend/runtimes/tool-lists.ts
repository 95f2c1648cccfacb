import { type Command, type Reason, reason } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { findId, findProcessId, type ProcessId } from '../../contracts/ids.ts';
import type { Backend } from '../context.ts';
import { everyPage } from '../every-page.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { toBody } from '../wire.ts';

/**
 * An MCP server has one list of tools, whoever runs it. Where several processes do and their lists differ, that of the one that was Connected
 * first counts for as long as it is there, so that agents do not see the list change to and fro; that of the others is set aside, which is
 * said at their status. When the list that counts has changed, or who told it has gone, the others are asked for theirs again.
 */

/** Code of the reason why a process's list of tools does not count. */
const setAsideCode = 'tools_set_aside';

type Server = Pick<Node<'mcpServer'>, 'id' | 'name' | 'workspace' | 'configVersion'>;
type Status = Node<'status'>;

/** Whether another process is Connected whose list is the one that counts, or equal to it. */
export async function isSetAside(graph: Graph, process: ProcessId, server: Server): Promise<boolean> {
  for await (const statuses of statusesOf(graph, { mcpServer: server.id, workspace: server.workspace })) {
    if (statuses.some((status) => status.process !== process && counts(status, server))) return true;
  }
  return false;
}

export function setAsideReason({ name }: Server): Reason {
  return {
    code: setAsideCode,
    message: `The MCP server "${name}" lists other tools in this process than in one that was Connected before it. Agents see the list of that one.`,
    repair: 'Make both run the same version of it; restart the MCP server to have its list taken anew.',
  };
}

/** Asks the processes other than `except` how their list is, those that were set aside or, after it has changed, all. */
export async function askForListsAgain(
  { bus, graph }: Pick<Backend, 'bus' | 'graph'>,
  of: { readonly mcpServer: string; readonly workspace: Server['workspace'] },
  changedBy: ProcessId | null = null,
): Promise<void> {
  for await (const statuses of statusesOf(graph, of)) {
    for (const status of statuses) {
      const isMeant = changedBy === null ? isAside(status) : status.process !== changedBy;
      const runtime = findId('runtime', status.runtime);
      const process = findProcessId(status.process);
      if (!isMeant || runtime === null || process === null) continue;
      bus.publish(subjects.command(runtime, process), toBody({ kind: 'assignments' } satisfies Command));
    }
  }
}

function counts(status: Status, server: Server): boolean {
  return status.status === 'Connected' && status.configVersion === server.configVersion && !isAside(status);
}

function isAside({ toolsReason }: Status): boolean {
  return toolsReason !== null && reason.parse(JSON.parse(toolsReason)).code === setAsideCode;
}

function statusesOf(graph: Graph, of: { readonly mcpServer: string; readonly workspace: Server['workspace'] }) {
  const where = [{ field: 'mcpServer' as const, equals: of.mcpServer }];
  return everyPage(graph, { type: 'status', anchor: of.workspace, where, limit: 100 });
}
