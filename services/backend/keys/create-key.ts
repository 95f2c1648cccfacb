import type { UserId, WorkspaceId } from '../../contracts/ids.ts';
import { defaultDisclosure, type KeyDisclosure } from '../../contracts/key-disclosure.ts';
import { newKey } from '../../contracts/keys.ts';
import { parseName } from '../../contracts/names.ts';
import type { Secret } from '../../contracts/secret.ts';
import { keysOfMemberMax } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Node } from '../graph/graph.ts';
import { countKeys } from '../members/count-keys.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { parseExpiry, parseRoles } from './key-fields.ts';
import { ownerOfKey, requireFreeKeyName, requireRoles, storeKey } from './store-key.ts';

export interface CreateKeyInput {
  readonly name: string;
  /** Absent: every role of the workspace, also later ones. */
  readonly roles?: readonly string[] | null | undefined;
  readonly disclosure?: KeyDisclosure | null | undefined;
  readonly expiresAt?: number | null | undefined;
}

export interface CreatedKey {
  readonly key: Node<'key'>;
  readonly secret: Secret;
}

/** A caller and the workspace that the caller changes keys of. */
export interface KeyRequest {
  readonly principal: TokenPrincipal;
  readonly workspace: WorkspaceId;
}

/** Makes a key of the caller in the workspace: every member may have agents. Its text is only in the answer; the graph keeps no readable copy. */
export async function createKey(
  backend: ChangeNeeds & WithSecrets,
  request: KeyRequest,
  input: CreateKeyInput,
): Promise<CreatedKey> {
  const secret = newKey('user');
  return { key: await addKey(backend, request, { input, secret }), secret };
}

/** Adds a key with this text to the workspace. */
export async function addKey(
  backend: ChangeNeeds & WithSecrets,
  request: KeyRequest,
  { input, secret }: { readonly input: CreateKeyInput; readonly secret: Secret },
): Promise<Node<'key'>> {
  const name = parseName('key', input.name);
  const roles = parseRoles(input.roles);
  const expiresAt = parseExpiry(input.expiresAt, Date.now());
  const disclosure = input.disclosure ?? defaultDisclosure;
  return await change(backend, { ...request, right: 'read' }, async (change) => {
    const { transaction, access, workspace } = change;
    await requireFreeKeyName(transaction, workspace, name);
    const user = await ownerOfKey(transaction, access);
    if (access.principal.kind === 'user') await requireRoomForKey(change, user);
    const roleNames = await requireRoles(change, roles);
    const stored = { workspace, name, secret, user, roles, disclosure, expiresAt, replaces: null };
    const key = await storeKey(transaction, backend, stored);
    change.record({
      action: 'create',
      subject: key.id,
      subjectKind: 'key',
      subjectName: name,
      changes: {
        roles: { to: roles === null ? 'all' : roleNames },
        disclosure: { to: disclosure },
        expiresAt: { to: expiresAt },
      },
    });
    return key;
  });
}

export async function requireRoomForKey({ transaction, workspace }: Change, user: UserId): Promise<void> {
  if ((await countKeys(transaction, workspace, user)) < keysOfMemberMax) return;
  throw tooMany('keys of a member', keysOfMemberMax, { hint: 'Revoke one that no agent uses any more.' });
}
