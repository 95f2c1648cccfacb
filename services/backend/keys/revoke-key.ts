import { SvcError } from '../../contracts/errors.ts';
import { findId, type WorkspaceId } from '../../contracts/ids.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

/**
 * Revokes a key by its id, or an active key by its name, which is then free again. An event informs remote-mcp; if the
 * event is lost, remote-mcp checks again when its cached answer expires. Idempotent.
 */
export async function revokeKey(
  backend: ChangeNeeds,
  request: { readonly principal: TokenPrincipal; readonly workspace: WorkspaceId },
  named: string,
): Promise<Node<'key'>> {
  return await change(backend, { ...request, right: 'administer' }, async (change) => {
    const { transaction, workspace } = change;
    const key = await getKey(transaction, workspace, named);
    if (key.revokedAt !== null) return key;
    change.record({
      action: 'revoke',
      subject: key.id,
      subjectKind: 'key',
      subjectName: key.name,
      changes: {},
    });
    change.announce({ kind: 'key', key: key.id });
    return await transaction.update('key', key.id, { revokedAt: Date.now(), activeName: null }, { anchor: workspace });
  });
}

async function getKey(transaction: Transaction, workspace: WorkspaceId, named: string): Promise<Node<'key'>> {
  const id = findId('key', named);
  const key =
    id === null
      ? await transaction.findBy('key', { activeName: named.trim() }, workspace)
      : await transaction.find('key', id, workspace);
  if (key !== null) return key;
  throw new SvcError('not_found', `This workspace has no key "${named.slice(0, 80)}".`, {
    hint: 'List them: svc keys list',
  });
}
