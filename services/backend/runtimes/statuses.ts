import type { Reason, ServerReport } from '../../contracts/bus/messages.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { publishEvent } from '../activity/change.ts';
import { findSender, processKey, type Sender } from '../bus/sender.ts';
import type { WithBus } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import type { WithProcesses } from './processes.ts';
import { askForListsAgain } from './tool-lists.ts';

type Context = WithGraph & WithBus;

/** Statuses written in one transaction. */
const sliceMax = 50;

/** What a process says of one MCP server, and what the backend has to add. */
export interface SaidOfServer {
  readonly server: Pick<Node<'mcpServer'>, 'id' | 'workspace'>;
  readonly report: ServerReport;
  /** What is to be said of its list of tools: that not all of it is offered, or none of it. */
  readonly toolsReason: Reason | null;
}

/**
 * Writes what a process says of its MCP servers. A status is not configuration: it raises `statusRevision`, and nobody's activity. A list of
 * tools raises it too, whether it differs or not, because an earlier try may have stored the tools and then have been cut off.
 */
export async function writeStatuses(
  backend: Context,
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

/** Removes what a process said, except of the MCP servers in `keep`. Whose list was set aside because of it is asked for it again. */
export async function removeStatuses(
  backend: Context,
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
          // Every backend does this.
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

/** Those that have said something of their MCP servers, and that this backend has not heard of. */
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

/** Removes what processes said that do not live: a backend that was away has not heard them go. */
export async function removeStatusesOfTheDead(backend: Context & WithProcesses): Promise<void> {
  for (const process of await findUnheard(backend)) {
    // It may have been heard while the others were removed.
    if (!backend.processes.isLive(process)) await removeStatuses(backend, process);
  }
}

/** Raises `statusRevision` in the same transaction, where `work` has written something, and tells the workspace's listeners. */
export async function touch(
  backend: Context,
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

/** True where something differs from what the process said before. */
async function writeStatus(
  transaction: Transaction,
  { runtime, process }: Sender,
  { server, report, toolsReason: reasonNow }: SaidOfServer,
): Promise<boolean> {
  const { id: mcpServer, workspace } = server;
  // Removed since the report was read: there is nothing to say about it any more.
  if ((await transaction.find('mcpServer', mcpServer, workspace)) === null) return false;
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

/** A report without tools says nothing new about them: what there was to be said before still is. */
function reasonOfTools(report: ServerReport, now: Reason | null, known: Node<'status'> | null): string | null {
  if (now !== null) return JSON.stringify(now);
  const isSameList = report.tools === undefined && known?.configVersion === report.configVersion;
  return isSameList ? known.toolsReason : null;
}
