import type { WorkspaceId } from '../../contracts/ids.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import type { Node } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { getKey } from './find-key.ts';

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
