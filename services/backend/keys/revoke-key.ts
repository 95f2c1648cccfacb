import type { WorkspaceId } from '../../contracts/ids.ts';
import { endKey } from '../accounts/end-key.ts';
import { removeGrantOfKey } from '../accounts/remove-grant.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import { requireVersion } from '../activity/changed-meanwhile.ts';
import type { Node } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { getChangeableKey } from './changeable-key.ts';

interface Revocation {
  readonly principal: TokenPrincipal;
  readonly workspace: WorkspaceId;
  readonly ifVersion?: number | null | undefined;
}

/**
 * Revokes a key by its id, or an active key by its name, which is then free again. An event informs remote-mcp; if the
 * event is lost, remote-mcp checks again when its cached answer expires. Idempotent.
 */
export async function revokeKey(
  backend: ChangeNeeds,
  { ifVersion, ...request }: Revocation,
  named: string,
): Promise<Node<'key'>> {
  return await change(backend, { ...request, right: 'read' }, async (change) => {
    const { transaction } = change;
    const key = await getChangeableKey(change, named);
    if (key.revokedAt !== null) return key;
    await requireVersion(change, 'key', key, ifVersion);
    change.record({
      action: 'revoke',
      subject: key.id,
      subjectKind: 'key',
      subjectName: key.name,
      changes: {},
    });
    change.announce({ kind: 'key', key: key.id });
    await removeGrantOfKey(transaction, key);
    return await endKey(transaction, key);
  });
}
