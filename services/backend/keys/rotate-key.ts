import { SvcError } from '../../contracts/errors.ts';
import { findId, parseId, type UserId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { getChangeableKey } from './changeable-key.ts';
import type { CreatedKey, KeyRequest } from './create-key.ts';
import { disclosureOf, lifetimeMaxMs, parseExpiry, rolesPerKeyMax } from './key-fields.ts';
import { stateOfKey } from './key-state.ts';
import { ownerOfKey, storeKey } from './store-key.ts';
import { revoked } from './update-key.ts';

interface Rotation extends KeyRequest {
  readonly id: string;
}

/**
 * Makes a key that replaces another: it takes over the name, the roles and the disclosure. The other key stays valid
 * without its name until it is revoked, so that agents can change one after the other. Both happen in one transaction.
 */
export async function rotateKey(
  backend: ChangeNeeds & WithSecrets,
  { id, ...request }: Rotation,
  { expiresAt }: { readonly expiresAt?: number | null | undefined } = {},
): Promise<CreatedKey> {
  const now = Date.now();
  const given = parseExpiry(expiresAt, now);
  const secret = newKey('user');
  const key = await change(backend, { ...request, right: 'read' }, async (change) => {
    const { transaction, workspace } = change;
    const old = await getChangeableKey(change, parseId('key', id));
    if (old.revokedAt !== null) throw revoked(old);
    if (old.client !== null) throw isAgent(old);
    await requireNoRotation(transaction, old, now);
    const roles = await rolesOf(transaction, old);
    const user = await userOf(change, old);
    await transaction.update('key', old.id, { activeName: null }, { anchor: workspace });
    const expires = given ?? sameLifetime(old, now);
    const created = await storeKey(transaction, backend, {
      ...{ workspace, secret, user, name: old.name, replaces: old.id, expiresAt: expires },
      ...{ roles: roles?.map((role) => role.id) ?? null, disclosure: disclosureOf(old) },
    });
    change.record({
      action: 'create',
      subject: created.id,
      subjectKind: 'key',
      subjectName: created.name,
      changes: {
        replaces: { to: old.id },
        roles: { to: roles === null ? 'all' : roles.map(({ name }) => name) },
        disclosure: { to: disclosureOf(old) },
        expiresAt: { to: expires },
      },
    });
    return created;
  });
  return { key, secret };
}

/** An agent gets its next tokens by itself. A text for its key would outlive its grant. */
function isAgent({ name }: Node<'key'>): SvcError {
  return new SvcError('conflict', `"${name}" is a connected agent, which has no key to rotate.`, {
    hint: 'Revoke it, and connect the agent again.',
  });
}

/** The key that this one replaces, as long as it is valid. */
export async function replacedKey(
  graph: Pick<Transaction, 'find'>,
  { replaces, workspace }: Node<'key'>,
  now: number,
): Promise<Node<'key'> | null> {
  const id = replaces === null ? null : findId('key', replaces);
  const old = id === null ? null : await graph.find('key', id, workspace);
  return old !== null && stateOfKey(old, now) === 'valid' ? old : null;
}

/** Two valid keys of one name are enough: a third would hide which of them agents still use. */
async function requireNoRotation(transaction: Transaction, key: Node<'key'>, now: number): Promise<void> {
  const named = await transaction.findBy('key', { activeName: key.name }, key.workspace);
  if (named !== null && named.id !== key.id) {
    throw new SvcError('conflict', `The key "${key.name}" with this id is already being replaced.`, {
      hint: `End it once no agent uses it: svc keys rotate "${key.name}" --finish`,
    });
  }
  if ((await replacedKey(transaction, key, now)) === null) return;
  throw new SvcError('conflict', `The key "${key.name}" is being rotated already: the key before it is still valid.`, {
    hint: `End that one first: svc keys rotate "${key.name}" --finish`,
  });
}

/** Null: every role. A key whose roles were all removed must not become one for every role. */
async function rolesOf(transaction: Transaction, key: Node<'key'>): Promise<readonly Node<'role'>[] | null> {
  if (key.allRoles) return null;
  const edge = { from: 'key', edge: 'roles' } as const;
  const ends = await transaction.follow(edge, [key.id], { anchor: key.workspace, limitEach: rolesPerKeyMax });
  const roles = ends.get(key.id) ?? [];
  if (roles.length > 0) return roles;
  throw new SvcError('conflict', `None of the roles of the key "${key.name}" exists any more.`, {
    hint: `Give it roles first: svc keys update "${key.name}" --role ROLE`,
  });
}

/** A user gets a key of their own. A key that an operator rotates keeps its user, if that one is still a member. */
async function userOf({ transaction, access, workspace }: Change, key: Node<'key'>): Promise<UserId> {
  if (access.principal.kind === 'user') return access.principal.user;
  const ends = await transaction.follow({ from: 'key', edge: 'user' }, [key.id], { anchor: workspace, limitEach: 1 });
  const user = ends.get(key.id)?.[0];
  const member = user === undefined ? null : await transaction.findBy('member', { user: user.id }, workspace);
  return user === undefined || member === null ? await ownerOfKey(transaction, access) : user.id;
}

/** A key for 30 days is replaced by a key for 30 days. */
function sameLifetime({ createdAt, expiresAt }: Node<'key'>, now: number): number | null {
  return expiresAt === null ? null : now + Math.min(Math.max(expiresAt - createdAt, 1), lifetimeMaxMs);
}
