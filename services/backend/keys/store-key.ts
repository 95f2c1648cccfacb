import { SvcError } from '../../contracts/errors.ts';
import { type KeyId, newId, parseId, type RoleId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { KeyDisclosure } from '../../contracts/key-disclosure.ts';
import { keyHint } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { Change } from '../activity/change.ts';
import { removalOf } from '../activity/changed-meanwhile.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { Access } from '../members/access.ts';
import { findOwner } from '../members/owner.ts';
import type { WithSecrets } from '../secrets/secrets.ts';

export interface KeyToStore {
  readonly workspace: WorkspaceId;
  readonly name: string;
  readonly secret: Secret;
  readonly user: UserId;
  /** Null: every role. */
  readonly roles: readonly RoleId[] | null;
  readonly disclosure: KeyDisclosure;
  readonly expiresAt: number | null;
  /** The key that this one replaces. */
  readonly replaces: KeyId | null;
}

/** Adds a key to the graph: its digest and a ciphertext, and no readable copy. */
export async function storeKey(
  transaction: Transaction,
  { secrets }: WithSecrets,
  { workspace, name, secret, user, roles, disclosure, expiresAt, replaces }: KeyToStore,
): Promise<Node<'key'>> {
  const id = newId('key');
  const key = await transaction.create('key', {
    id,
    workspace,
    name,
    activeName: name,
    digest: secrets.digest(secret),
    ciphertext: secrets.encrypt(secret, { node: id, field: 'ciphertext' }),
    hint: keyHint(secret.reveal()),
    allRoles: roles === null,
    disclosure,
    replaces,
    client: null,
    grant: null,
    expiresAt,
    revokedAt: null,
    firstUsedAt: null,
    lastUsedAt: null,
    createdAt: Date.now(),
  });
  await transaction.link({ from: 'key', edge: 'user' }, id, [user]);
  if (roles !== null) await transaction.link({ from: 'key', edge: 'roles' }, id, roles);
  return key;
}

export async function requireFreeKeyName(
  transaction: Transaction,
  workspace: WorkspaceId,
  name: string,
): Promise<void> {
  if ((await transaction.findBy('key', { activeName: name }, workspace)) === null) return;
  throw new SvcError('conflict', `A key named "${name}" exists already.`, {
    hint: `Choose another name, or replace that key by a new one: svc keys rotate "${name}"`,
  });
}

/** Returns their names. A role of another workspace is as unknown as one that does not exist. */
export async function requireRoles(change: Change, roles: readonly RoleId[] | null): Promise<readonly string[]> {
  const { transaction, workspace } = change;
  const names: string[] = [];
  for (const id of roles ?? []) {
    const role = await transaction.find('role', id, workspace);
    if (role === null) {
      // A caller finds the id by the name of the role a moment before.
      throw (await removalOf(change, 'role', id)) ?? new SvcError('not_found', `The workspace has no role "${id}".`);
    }
    names.push(role.name);
  }
  return names;
}

/** A user's key is their own; operators are not users, so their key belongs to the owner of the workspace. */
export async function ownerOfKey(transaction: Transaction, { principal, workspace }: Access): Promise<UserId> {
  if (principal.kind === 'user') return principal.user;
  const owner = await findOwner(transaction, workspace.id);
  if (owner === null) throw new SvcError('conflict', `The workspace "${workspace.name}" has no owner.`);
  return parseId('user', owner.user);
}
