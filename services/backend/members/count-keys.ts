import type { KeyId, UserId, WorkspaceId } from '../../contracts/ids.ts';
import { pageMax, type Transaction } from '../graph/graph.ts';

const user = { from: 'key', edge: 'user' } as const;
const formerUser = { from: 'key', edge: 'formerUser' } as const;

/**
 * The keys and connected agents of a member that are not revoked. A revoked key of an older installation may still be
 * among the keys of its person. Such keys are moved before they fill the page and hide others.
 */
export async function countKeys(transaction: Transaction, workspace: WorkspaceId, person: UserId): Promise<number> {
  for (;;) {
    const options = { anchor: workspace, limitEach: pageMax };
    const keys = (await transaction.followBack(user, [person], options)).get(person) ?? [];
    const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
    if (keys.length < pageMax || revoked.length === 0) return keys.length - revoked.length;
    for (const { id } of revoked) await leaveToHistory(transaction, id, [person]);
  }
}

/** A revoked key stays for the history, no longer among the keys of its person: those are bounded, and it is not. */
export async function leaveToHistory(transaction: Transaction, key: KeyId, people: readonly UserId[]): Promise<void> {
  await transaction.unlink(user, key, people);
  await transaction.link(formerUser, key, people);
}
