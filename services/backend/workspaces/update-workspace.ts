import { describeChanges } from '../../contracts/activity-changes.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { parseName } from '../../contracts/names.ts';
import { announceToMembers } from '../accounts/announce-account.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import { repeat } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { nameTaken } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { type AccessRequest, noSuchWorkspace, requireRight } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { WithNameTries } from './name-tries.ts';

export interface UpdateWorkspaceInput {
  readonly name?: string | null | undefined;
  readonly suspended?: boolean | null | undefined;
  /** The values that the change is based on; absent: any. Every change in the workspace raises its version. */
  readonly ifName?: string | null | undefined;
  readonly ifSuspended?: boolean | null | undefined;
}

/**
 * Owners rename. Suspending is for operators: an owner could not undo it, because a suspended workspace is closed to
 * its members.
 */
export async function updateWorkspace(
  backend: ChangeNeeds & WithNameTries,
  principal: TokenPrincipal,
  id: WorkspaceId,
  input: UpdateWorkspaceInput,
): Promise<Node<'workspace'>> {
  const update = () => storeUpdate(backend, { principal, workspace: id }, input);
  const isChanged = input.name == null ? await update() : await backend.nameTries.try(principal, update);
  if (isChanged) await announceToMembers(backend, id);
  const workspace = await backend.graph.find('workspace', id, null);
  if (workspace === null) throw noSuchWorkspace(id);
  return workspace;
}

/** Whether the update changed anything. */
async function storeUpdate(
  backend: ChangeNeeds,
  { principal, workspace: id }: Pick<AccessRequest, 'principal' | 'workspace'>,
  input: UpdateWorkspaceInput,
): Promise<boolean> {
  return await change(backend, { principal, workspace: id, right: 'own' }, async (change) => {
    const { transaction, access } = change;
    if (input.suspended != null) requireRight(access, 'operate');
    const before = access.workspace;
    requireValues(before, input);
    const name = input.name == null ? before.name : parseName('workspace', input.name);
    const suspended = input.suspended ?? before.suspended;
    const changes = differences(before, { name, suspended });
    if (Object.keys(changes).length === 0) return false;
    if (name !== before.name) await requireFreeName(transaction, name);
    await transaction.update('workspace', id, { name, suspended }, { anchor: null });
    change.record({ action: 'update', subject: id, subjectKind: 'workspace', subjectName: name, changes });
    // Principals contain both, so cached ones must be read again.
    change.announce({ kind: 'key' });
    return true;
  });
}

function requireValues(
  workspace: Node<'workspace'>,
  { ifName, ifSuspended }: Pick<UpdateWorkspaceInput, 'ifName' | 'ifSuspended'>,
): void {
  const { name, suspended } = workspace;
  const told = describeChanges(
    differences({ name: ifName ?? name, suspended: ifSuspended ?? suspended }, { name, suspended }),
  );
  if (told === '') return;
  throw new SvcError('conflict', `The workspace "${name}" was changed meanwhile: ${told}.`, {
    hint: repeat('svc workspace list'),
  });
}

export async function requireFreeName(transaction: Transaction, name: string): Promise<void> {
  const taken = await transaction.findBy('workspace', { name }, null);
  if (taken !== null) throw nameTaken('workspace', name);
}
