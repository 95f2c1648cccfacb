import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { parseName } from '../../contracts/names.ts';
import { announceAccount } from '../accounts/announce-account.ts';
import { signedOut } from '../accounts/browser-sessions.ts';
import { recordActivity } from '../activity/record-activity.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { createMember } from '../members/create-member.ts';
import { requireRoomToOwn } from '../members/require-room-to-own.ts';
import { ensureUser } from '../members/users.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { WithNameTries } from './name-tries.ts';
import { requireFreeName } from './update-workspace.ts';

export interface CreateWorkspaceInput {
  readonly name: string;
  /** Operators name the owner. A person owns what the person creates. */
  readonly ownerEmail?: string | null | undefined;
}

/** No service can know a new workspace yet, so only the owner's open pages are told. */
export async function createWorkspace(
  backend: WithGraph & WithBus & WithNameTries,
  principal: TokenPrincipal,
  input: CreateWorkspaceInput,
): Promise<Node<'workspace'>> {
  const name = parseName('workspace', input.name);
  const created = await backend.nameTries.try(principal, () => storeWorkspace(backend, principal, { ...input, name }));
  announceAccount(backend, created.owner.id);
  return created.workspace;
}

async function storeWorkspace(
  { graph }: WithGraph,
  principal: TokenPrincipal,
  { name, ...input }: CreateWorkspaceInput,
): Promise<{ readonly workspace: Node<'workspace'>; readonly owner: Node<'user'> }> {
  return await graph.write(async (transaction) => {
    const owner = await ownerOf(transaction, principal, input);
    await requireFreeName(transaction, name);
    const createdAt = Date.now();
    const workspace = await transaction.create('workspace', {
      id: newId('workspace'),
      name,
      suspended: false,
      revision: 1,
      statusRevision: 0,
      createdAt,
    });
    await createMember(transaction, { workspace: workspace.id, user: owner.id, role: 'owner' });
    await recordActivity(
      transaction,
      { workspace, principal },
      {
        action: 'create',
        subject: workspace.id,
        subjectKind: 'workspace',
        subjectName: name,
        changes: { owner: { to: owner.email } },
      },
    );
    return { workspace, owner };
  });
}

async function ownerOf(
  transaction: Transaction,
  principal: TokenPrincipal,
  { ownerEmail }: Pick<CreateWorkspaceInput, 'ownerEmail'>,
): Promise<Node<'user'>> {
  if (principal.kind === 'operator') {
    if (ownerEmail != null) return await ensureUser(transaction, ownerEmail);
    throw new SvcError('invalid_input', 'Operators give the address of the owner: "ownerEmail".');
  }
  if (ownerEmail != null)
    throw new SvcError('forbidden', 'A person owns what the person creates: leave "ownerEmail" out.');
  await requireRoomToOwn(transaction, principal.user);
  const owner = await transaction.find('user', principal.user, null);
  if (owner === null) throw signedOut();
  return owner;
}
