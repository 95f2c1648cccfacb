import type { Reason, ServerReport } from '../../contracts/bus/messages.ts';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { newId } from '../../contracts/ids.ts';
import type { Sender } from '../bus/sender.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { reasons } from '../servers/status.ts';
import { touch } from './statuses.ts';
import { counts, isBeingStored, othersThan, storingReason } from './tool-lists.ts';

/**
 * How a process's tool list is used: it counts, or it is compared with the list that counts, or that will count once it
 * is stored.
 */
export type Claim = 'counts' | 'aside' | 'aside-of-unstored';

export interface Claiming {
  readonly server: Node<'mcpServer'>;
  readonly report: ServerReport;
}

/** MCP servers claimed in one transaction. */
const sliceMax = 50;

/**
 * Decides before storing which process's list counts. Several backends may take reports about one MCP server
 * concurrently. Each claims the list in a transaction that the workspace guards, so one claim comes first.
 */
export async function claimLists(
  backend: WithGraph & WithBus,
  sender: Sender,
  all: readonly Claiming[],
): Promise<ReadonlyMap<McpServerId, Claim>> {
  const claims = new Map<McpServerId, Claim>();
  for (const [workspace, ofOne] of Map.groupBy(all, ({ server }) => server.workspace)) {
    for (let from = 0; from < ofOne.length; from += sliceMax) {
      const slice = ofOne.slice(from, from + sliceMax);
      await touch(backend, workspace, async (transaction) => {
        let touched = false;
        for (const one of slice) {
          const { claim, isNew } = await claimList(transaction, workspace, sender, one);
          claims.set(one.server.id, claim);
          touched ||= isNew;
        }
        return touched;
      });
    }
  }
  return claims;
}

async function claimList(
  transaction: Transaction,
  workspace: WorkspaceId,
  sender: Sender,
  { server, report }: Claiming,
): Promise<{ readonly claim: Claim; readonly isNew: boolean }> {
  const { runtime, process } = sender;
  const others = await othersThan(transaction, sender, server);
  if (others.some((status) => counts(status, server))) return { claim: 'aside', isNew: false };
  if (others.some((status) => isBeingStored(status, server))) return { claim: 'aside-of-unstored', isNew: false };
  const own = await transaction.findBy('status', { mcpServer: server.id, runtime, process }, workspace);
  const isClaimed = own !== null && (counts(own, server) || isBeingStored(own, server));
  // A process that is not Connected sets no other list aside.
  if (isClaimed || report.status !== 'Connected') return { claim: 'counts', isNew: false };
  const toolsReason = JSON.stringify(storingReason);
  if (own?.status === 'Connected' && own.configVersion === server.configVersion) {
    await transaction.update('status', own.id, { toolsReason }, { anchor: workspace });
    return { claim: 'counts', isNew: true };
  }
  const values = {
    ...{ toolsReason, configVersion: report.configVersion, health: report.health, restarts: report.restarts },
    // A reader that sees it Connected must find its tools.
    status: 'Disconnected',
    reason: JSON.stringify(reasons.starting() satisfies Reason),
    ...{ stderr: JSON.stringify(report.stderr), startedAt: report.startedAt, nextRetryAt: report.nextRetryAt },
  };
  if (own !== null) await transaction.update('status', own.id, values, { anchor: workspace });
  else {
    const fresh = { ...values, id: newId('status'), workspace, mcpServer: server.id, runtime, process };
    const made = await transaction.create('status', fresh);
    await transaction.link({ from: 'status', edge: 'server' }, made.id, [server.id]);
  }
  return { claim: 'counts', isNew: true };
}
