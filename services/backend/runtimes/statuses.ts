import type { Reason, ServerReport } from '../../contracts/bus/messages.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { publishEvent } from '../activity/change.ts';
import { findSender, processKey, type Sender } from '../bus/sender.ts';
import type { WithBus } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { noteNeed } from '../integrations/note-need.ts';
import type { WithProcesses } from './processes.ts';
import { askForListsAgain } from './tool-lists.ts';

type StatusNeeds = WithGraph & WithBus;

/** Statuses written in one transaction. */
const sliceMax = 50;

/** A process's report of one MCP server, and the backend's additions. */
export interface SaidOfServer {
  readonly server: Pick<Node<'mcpServer'>, 'id' | 'workspace'>;
  readonly report: ServerReport;
  /** Why its list of tools is not offered, or not in full. */
  readonly toolsReason: Reason | null;
}

/**
 * Writes a process's report of its MCP servers. A status is not configuration: it raises `statusRevision` and records
 * no activity. A list of tools raises it even when unchanged, because an earlier try may have stored the tools and then
 * failed.
 */
export async function writeStatuses(
  backend: StatusNeeds,
  sender: Sender,
  said: readonly SaidOfServer[],
  requireTime: () => void,
): Promise<void> {
  const byWorkspace = Map.groupBy(said, ({ server }) => server.workspace);
  for (const [workspace, all] of byWorkspace) {
    for (let from = 0; from < all.length; from += sliceMax) {
      requireTime();
      await touch(backend, workspace, async (transaction) => {
        let touched = false;
        for (const one of all.slice(from, from + sliceMax)) {
          const written = await writeStatus(transaction, sender, one);
          touched ||= written || one.report.tools !== undefined;
        }
        return touched;
      });
    }
  }
}

/**
 * Removes a process's statuses, except of the MCP servers in `keep`. Requests the lists of processes that were set
 * aside for it again.
 */
export async function removeStatuses(
  backend: StatusNeeds,
  { runtime, process }: Sender,
  keep: ReadonlySet<string> = new Set(),
): Promise<void> {
  const where = [
    { field: 'process' as const, equals: process },
    { field: 'runtime' as const, equals: runtime },
  ];
  for await (const page of everyPage(backend.graph, { type: 'status', anchor: 'everywhere', where, limit: sliceMax })) {
    const gone = page.filter(({ mcpServer }) => !keep.has(mcpServer));
    for (const [workspace, statuses] of Map.groupBy(gone, (status) => status.workspace)) {
      await touch(backend, workspace, async (transaction) => {
        let removed = false;
        for (const { id } of statuses) {
          // Every backend does this, so another may have been faster.
          if ((await transaction.find('status', id, workspace)) === null) continue;
          await transaction.remove('status', id, workspace);
          removed = true;
        }
        return removed;
      });
      for (const { mcpServer } of statuses) await askForListsAgain(backend, { mcpServer, workspace });
    }
  }
}

/** Processes with stored statuses from which this backend has received nothing. */
export async function findUnheard({ graph, processes }: WithGraph & WithProcesses): Promise<readonly Sender[]> {
  const unheard = new Map<string, Sender>();
  for await (const page of everyPage(graph, { type: 'status', anchor: 'everywhere', limit: sliceMax })) {
    for (const status of page) {
      const sender = findSender(status);
      if (sender !== null && !processes.isLive(sender)) unheard.set(processKey(sender), sender);
    }
  }
  return [...unheard.values()];
}

/** Removes statuses of dead processes: a backend that was away has not noticed their end. */
export async function removeStatusesOfTheDead(backend: StatusNeeds & WithProcesses): Promise<void> {
  for (const process of await findUnheard(backend)) {
    // It may have reported while the others were removed.
    if (!backend.processes.isLive(process)) await removeStatuses(backend, process);
  }
}

/**
 * Raises `statusRevision` in the same transaction when `work` has written something, and notifies the workspace's
 * listeners.
 */
export async function touch(
  backend: StatusNeeds,
  workspace: WorkspaceId,
  work: (transaction: Transaction) => Promise<boolean>,
): Promise<void> {
  const touched = await backend.graph.write(async (transaction) => {
    const node = await transaction.find('workspace', workspace, null);
    if (node === null || !(await work(transaction))) return null;
    const statusRevision = node.statusRevision + 1;
    return await transaction.update('workspace', workspace, { statusRevision }, { anchor: null });
  });
  if (touched !== null) publishEvent(backend.bus, touched, 'status');
}

/** True when the report differs from the process's previous one. */
async function writeStatus(
  transaction: Transaction,
  { runtime, process }: Sender,
  { server, report, toolsReason: reasonNow }: SaidOfServer,
): Promise<boolean> {
  const { id: mcpServer, workspace } = server;
  // Removed since the report was read: there is no status to store any more.
  const present = await transaction.find('mcpServer', mcpServer, workspace);
  if (present === null) return false;
  if (report.configVersion === present.configVersion) await noteNeed(transaction, present, report.reason);
  const known = await transaction.findBy('status', { mcpServer, runtime, process }, workspace);
  const toolsReason = reasonOfTools(report, reasonNow, known);
  const values = {
    configVersion: report.configVersion,
    status: report.status,
    health: report.health,
    reason: report.reason === null ? toolsReason : JSON.stringify(report.reason),
    toolsReason,
    stderr: JSON.stringify(report.stderr),
    restarts: report.restarts,
    startedAt: report.startedAt,
    nextRetryAt: report.nextRetryAt,
  };
  if (known === null) {
    const fresh = { ...values, id: newId('status'), workspace, mcpServer, runtime, process };
    const made = await transaction.create('status', fresh);
    await transaction.link({ from: 'status', edge: 'server' }, made.id, [mcpServer]);
    return true;
  }
  // Spread keeps the order of fields, so that equal statuses are equal texts.
  if (JSON.stringify({ ...known, ...values }) === JSON.stringify(known)) return false;
  await transaction.update('status', known.id, values, { anchor: workspace });
  return true;
}

/** A report without tools keeps the earlier reason about them. */
function reasonOfTools(report: ServerReport, now: Reason | null, known: Node<'status'> | null): string | null {
  if (now !== null) return JSON.stringify(now);
  const isSameList = report.tools === undefined && known?.configVersion === report.configVersion;
  return isSameList ? known.toolsReason : null;
}
