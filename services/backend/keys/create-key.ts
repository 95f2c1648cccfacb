import { SvcError } from '../../contracts/errors.ts';
import { newId, parseId, type RoleId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { keyHint, newKey } from '../../contracts/keys.ts';
import { parseName } from '../../contracts/names.ts';
import type { Secret } from '../../contracts/secret.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { Access } from '../members/access.ts';
import { findOwner } from '../members/owner.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

export interface CreateKeyInput {
  readonly name: string;
  /** Absent: every role of the workspace, also later ones. */
  readonly roles?: readonly string[] | null | undefined;
  readonly expiresAt?: number | null | undefined;
}

export interface CreatedKey {
  readonly key: Node<'key'>;
  readonly secret: Secret;
}

export const rolesPerKeyMax = 100;
const yearMs = 365 * 24 * 60 * 60 * 1000;
/** A longer lifetime means no expiry. */
const lifetimeMaxMs = 10 * yearMs;

/** Makes a key of the workspace. Its text is only in the answer; the graph keeps no readable copy. */
export async function createKey(
  backend: ChangeNeeds & WithSecrets,
  request: { readonly principal: TokenPrincipal; readonly workspace: WorkspaceId },
  input: CreateKeyInput,
): Promise<CreatedKey> {
  const name = parseName('key', input.name);
  const roles = parseRoles(input.roles);
  const expiresAt = parseExpiry(input.expiresAt, Date.now());
  const secret = newKey('user');
  const key = await change(backend, { ...request, right: 'administer' }, async (change) => {
    const { transaction, access, workspace } = change;
    await requireFreeName(transaction, workspace, name);
    const user = await userOf(transaction, access);
    const roleNames = await requireRoles(transaction, workspace, roles);
    const id = newId('key');
    const created = await transaction.create('key', {
      id,
      workspace,
      name,
      activeName: name,
      digest: backend.secrets.digest(secret),
      ciphertext: backend.secrets.encrypt(secret, { node: id, field: 'ciphertext' }),
      hint: keyHint(secret.reveal()),
      allRoles: roles === null,
      expiresAt,
      revokedAt: null,
      lastUsedAt: null,
      createdAt: Date.now(),
    });
    await transaction.link({ from: 'key', edge: 'user' }, id, [user]);
    if (roles !== null) await transaction.link({ from: 'key', edge: 'roles' }, id, roles);
    change.record({
      action: 'create',
      subject: id,
      subjectKind: 'key',
      subjectName: name,
      changes: { roles: { to: roles === null ? 'all' : roleNames }, expiresAt: { to: expiresAt } },
    });
    return created;
  });
  return { key, secret };
}

function parseRoles(roles: CreateKeyInput['roles']): readonly RoleId[] | null {
  if (roles == null) return null;
  const ids = [...new Set(roles)].map((role) => parseId('role', role));
  if (ids.length >= 1 && ids.length <= rolesPerKeyMax) return ids;
  throw new SvcError(
    'invalid_input',
    `A key for ${ids.length} roles is not possible: name 1 to ${rolesPerKeyMax} roles, or none for every role.`,
  );
}

function parseExpiry(expiresAt: CreateKeyInput['expiresAt'], now: number): number | null {
  if (expiresAt == null) return null;
  const time = Math.floor(expiresAt);
  if (time > now && time <= now + lifetimeMaxMs) return time;
  const given = Number.isFinite(time) && Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(expiresAt);
  throw new SvcError(
    'invalid_input',
    `"${given}" is not a valid expiry for a key: it must be in the future, at most 10 years ahead.`,
    { hint: 'Leave it out for a key that does not expire.' },
  );
}

async function requireFreeName(transaction: Transaction, workspace: WorkspaceId, name: string): Promise<void> {
  if ((await transaction.findBy('key', { activeName: name }, workspace)) === null) return;
  throw new SvcError('conflict', `A key named "${name}" exists already.`, {
    hint: `Choose another name, or revoke that key first: svc keys revoke "${name}"`,
  });
}

/** Returns their names. A role of another workspace is as unknown as one that does not exist. */
async function requireRoles(
  transaction: Transaction,
  workspace: WorkspaceId,
  roles: readonly RoleId[] | null,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const id of roles ?? []) {
    const role = await transaction.find('role', id, workspace);
    if (role === null) throw new SvcError('not_found', `The workspace has no role "${id}".`);
    names.push(role.name);
  }
  return names;
}

/** A user's key is their own; operators are not users, so their key belongs to the owner of the workspace. */
async function userOf(transaction: Transaction, { principal, workspace }: Access): Promise<UserId> {
  if (principal.kind === 'user') return principal.user;
  const owner = await findOwner(transaction, workspace.id);
  if (owner === null) throw new SvcError('conflict', `The workspace "${workspace.name}" has no owner.`);
  return parseId('user', owner.user);
}
