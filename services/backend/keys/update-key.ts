import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { KeyDisclosure } from '../../contracts/key-disclosure.ts';
import { parseName } from '../../contracts/names.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import type { Node } from '../graph/graph.ts';
import { replaceEdges } from '../graph/replace-edges.ts';
import { getChangeableKey } from './changeable-key.ts';
import type { KeyRequest } from './create-key.ts';
import { disclosureOf, parseExpiry, parseRoles, rolesPerKeyMax } from './key-fields.ts';
import { requireFreeKeyName, requireRoles } from './store-key.ts';

/** An absent or null field stays unchanged. */
export interface KeyPatch {
  readonly name?: string | null | undefined;
  readonly roles?: readonly string[] | null | undefined;
  /** True: every role of the workspace, instead of `roles`. */
  readonly allRoles?: boolean | null | undefined;
  readonly disclosure?: KeyDisclosure | null | undefined;
  readonly expiresAt?: number | null | undefined;
  /** True: no expiry, instead of `expiresAt`. */
  readonly neverExpires?: boolean | null | undefined;
  readonly ifVersion?: number | null | undefined;
}

interface KeyChange extends KeyRequest {
  readonly id: string;
}

/**
 * Changes what a key may do. An event makes remote-mcp read the key again and end its streams, so that open sessions
 * notice the change when they reconnect. An expired key may get a later expiry; a revoked key stays as it is.
 */
export async function updateKey(
  backend: ChangeNeeds,
  { id, ...request }: KeyChange,
  patch: KeyPatch,
): Promise<Node<'key'>> {
  const roles = parseRoles(patch.roles);
  refuseBoth('roles', roles !== null, 'allRoles', patch.allRoles === true);
  refuseBoth('expiresAt', patch.expiresAt != null, 'neverExpires', patch.neverExpires === true);
  const expiry = parseExpiry(patch.expiresAt, Date.now());
  return await change(backend, { ...request, right: 'read' }, async (change) => {
    const { transaction, workspace } = change;
    const before = await getChangeableKey(change, parseId('key', id));
    if (before.revokedAt !== null) throw revoked(before);
    await requireVersion(change, 'key', before, patch.ifVersion);
    const name = patch.name == null ? before.name : parseName('key', patch.name);
    const isReplaced = before.activeName === null;
    if (name !== before.name && !isReplaced) await requireFreeKeyName(transaction, workspace, name);
    const disclosure = patch.disclosure ?? disclosureOf(before);
    const expiresAt = patch.neverExpires === true ? null : (expiry ?? before.expiresAt);
    const allRoles = patch.allRoles === true || (before.allRoles && roles === null);
    await requireRoles(change, roles);
    const ends = await changeRoles(change, before, allRoles ? [] : roles);
    const changes = {
      ...differences({ ...before, disclosure: disclosureOf(before) }, { name, disclosure, expiresAt }),
      ...differences({ roles: before.allRoles ? 'all' : ends.before }, { roles: allRoles ? 'all' : ends.after }),
    };
    if (Object.keys(changes).length === 0) return before;
    change.record({ action: 'update', subject: before.id, subjectKind: 'key', subjectName: name, changes });
    change.announce({ kind: 'key', key: before.id });
    const fields = { name, activeName: isReplaced ? null : name, disclosure, expiresAt, allRoles };
    return await transaction.update('key', before.id, fields, { anchor: workspace });
  });
}

function refuseBoth(one: string, isOne: boolean, other: string, isOther: boolean): void {
  if (isOne && isOther) throw new SvcError('invalid_input', `Give "${one}" or "${other}", not both.`);
}

export function revoked({ name }: Node<'key'>): SvcError {
  return new SvcError('conflict', `The key "${name}" is revoked, and stays revoked.`, {
    hint: 'Create another key: svc keys create NAME',
  });
}

/** Null leaves the roles unchanged. Returns the names of the roles before and after. */
async function changeRoles({ transaction, workspace }: Change, key: Node<'key'>, to: readonly string[] | null) {
  const edge = { from: 'key', edge: 'roles' } as const;
  if (to !== null) {
    const { before, after } = await replaceEdges(transaction, edge, { from: key.id, anchor: workspace, to });
    return { before: namesOf(before), after: namesOf(after) };
  }
  const ends = await transaction.follow(edge, [key.id], { anchor: workspace, limitEach: rolesPerKeyMax });
  const names = namesOf(ends.get(key.id) ?? []);
  return { before: names, after: names };
}

function namesOf(roles: readonly Node<'role'>[]): readonly string[] {
  return roles.map(({ name }) => name).sort();
}
