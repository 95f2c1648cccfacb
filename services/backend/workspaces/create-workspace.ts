import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { parseName } from '../../contracts/names.ts';
import { recordActivity } from '../activity/record-activity.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { ensureUser } from '../members/users.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { requireFreeName } from './update-workspace.ts';

export interface CreateWorkspaceInput {
  readonly name: string;
  readonly ownerEmail: string;
}

/** No service can know a new workspace yet, so this sends nothing to the bus. */
export async function createWorkspace(
  backend: WithGraph,
  principal: TokenPrincipal,
  input: CreateWorkspaceInput,
): Promise<Node<'workspace'>> {
  if (principal.kind !== 'operator') {
    throw new SvcError('forbidden', 'Only an operator of the platform may create a workspace.');
  }
  const name = parseName('workspace', input.name);
  return await backend.graph.write(async (transaction) => {
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
    const owner = await ensureUser(transaction, input.ownerEmail);
    const member = await transaction.create('member', {
      id: newId('member'),
      workspace: workspace.id,
      user: owner.id,
      role: 'owner',
      suspended: false,
      createdAt,
    });
    await transaction.link({ from: 'member', edge: 'person' }, member.id, [owner.id]);
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
    return workspace;
  });
}
