import { SvcError } from '../../contracts/errors.ts';
import { parseId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import { requireSeen } from '../activity/changed-meanwhile.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { isPast } from '../keys/key-state.ts';
import { requireOperator } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

export interface RuntimeRevocation {
  readonly workspace: WorkspaceId | null;
  readonly id: string;
  /** Ids of the MCP servers that may be bound to it; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
}

/** Revokes a runtime's keys and ends its connections, at once. Its name may be registered again. */
export async function revokeRuntime(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  request: RuntimeRevocation,
): Promise<void> {
  const id = parseId('runtime', request.id);
  const { workspace } = request;
  if (workspace === null) {
    requireOperator(principal, "revoke one of the platform's own runtimes");
    await backend.graph.write((transaction) => revoke(transaction, platformHome, id));
  } else {
    await change(backend, { principal, workspace, right: 'administer' }, async (change) => {
      const runtime = await revoke(change.transaction, workspace, id);
      if (runtime === null) return;
      const edge = { from: 'mcpServer', edge: 'runtimes' } as const;
      const ends = await change.transaction.followBack(edge, [id], { anchor: workspace, limitEach: pageMax });
      const bound = { kind: 'mcpServer', objects: ends.get(id) ?? [], seen: request.ifUsedBy } as const;
      requireSeen({ kind: 'runtime', name: runtime.name }, bound);
      change.record({
        action: 'revoke',
        subject: id,
        subjectKind: 'runtime',
        subjectName: runtime.name,
        changes: {},
      });
    });
  }
  // Done for an already revoked runtime too: its connections may have outlived a crash during the first try.
  await backend.bus.disconnect(id);
}

/** Null when it is revoked already. */
async function revoke(transaction: Transaction, home: string, id: RuntimeId): Promise<Node<'runtime'> | null> {
  const runtime = await transaction.find('runtime', id, null);
  if (runtime === null || runtime.home !== home) {
    throw new SvcError('not_found', `There is no runtime "${id}" here.`, { hint: 'List the runtimes: svc status' });
  }
  const now = Date.now();
  // Its keys stay, as expired ones, so that a runtime that shows one learns of the revocation. The next registration removes them.
  const where = [{ field: 'runtime' as const, equals: id }];
  for await (const keys of everyPage(transaction, { type: 'runtimeKey', anchor: null, where, limit: 100 })) {
    for (const key of keys) {
      if (!isPast(key.expiresAt, now)) {
        await transaction.update('runtimeKey', key.id, { expiresAt: now }, { anchor: null });
      }
    }
  }
  if (runtime.revokedAt !== null) return null;
  return await transaction.update('runtime', id, { revokedAt: now }, { anchor: null });
}
