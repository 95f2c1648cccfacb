import { newId, type RoleId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { defaultDisclosure } from '../../contracts/key-disclosure.ts';
import { parseName } from '../../contracts/names.ts';
import { Secret } from '../../contracts/secret.ts';
import type { AgentScope } from '../../contracts/token.ts';
import { endKey } from '../accounts/end-key.ts';
import { removeGrantOfKey } from '../accounts/remove-grant.ts';
import { change, changeAs } from '../activity/change.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { verified } from '../keys/check-key.ts';
import { requireRoomForKey } from '../keys/create-key.ts';
import { findAnyKey, findKeyBySecret } from '../keys/find-key.ts';
import { stateOfKey } from '../keys/key-state.ts';
import { requireRoles } from '../keys/store-key.ts';
import type { Access } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import { findRecord } from './records.ts';

export interface NewAgent {
  readonly principal: UserPrincipal;
  readonly workspace: WorkspaceId;
  /** Null: every role of the workspace, also later ones. */
  readonly roles: readonly RoleId[] | null;
  readonly scope: AgentScope;
  readonly client: { readonly id: string; readonly name: string };
  /** The id of the grant, which the graph does not have in a readable form. */
  readonly grant: string;
}

/**
 * A connected agent is a key without a text: its digest is made from the grant. So roles, usage, suspension, revocation
 * and limits of keys hold for it. Each member may connect agents, because they act for that member.
 */
export async function connectAgent(backend: OauthNeeds, agent: NewAgent): Promise<Node<'key'>> {
  const { secrets, config } = backend;
  const { principal, workspace, roles, scope, client, grant } = agent;
  return await change(backend, { principal, workspace, right: 'read' }, async (change) => {
    const { transaction } = change;
    await requireRoomForKey(change, principal.user);
    const roleNames = await requireRoles(change, roles);
    const id = newId('key');
    const name = nameOfAgent(client.name);
    const now = Date.now();
    const record = await findRecord(transaction, secrets, { kind: 'Grant', id: grant });
    if (record === null) throw new Error('a grant has no record');
    const key = await transaction.create('key', {
      ...{ id, workspace, name, activeName: null, digest: secrets.digest(secretOf(grant)), hint: '' },
      ciphertext: '',
      ...{ allRoles: roles === null, disclosure: defaultDisclosure, replaces: null, client: client.id },
      grant: record.id,
      expiresAt: now + config.JWT_REFRESH_TOKEN_TTL * 1000,
      ...{ revokedAt: null, firstUsedAt: null, lastUsedAt: null, createdAt: now },
    });
    await transaction.link({ from: 'key', edge: 'user' }, id, [principal.user]);
    if (roles !== null) await transaction.link({ from: 'key', edge: 'roles' }, id, roles);
    change.record({
      ...{ action: 'create', subject: id, subjectKind: 'key', subjectName: name },
      changes: { roles: { to: roles === null ? 'all' : roleNames }, client: { to: client.id }, scope: { to: scope } },
    });
    return key;
  });
}

/** The key of the agent, in any state. */
export function findAgent(backend: WithGraph & WithSecrets, grant: string): Promise<Node<'key'> | null> {
  return findKeyBySecret(backend, secretOf(grant));
}

/** Whether the agent may get further tokens: it is not revoked, and its person is still a member. */
export async function isConnected(backend: WithGraph & WithSecrets, grant: string, user: UserId): Promise<boolean> {
  const key = await findAgent(backend, grant);
  if (key === null || stateOfKey(key, Date.now()) !== 'valid') return false;
  return (await backend.graph.findBy('member', { user }, key.workspace)) !== null;
}

/** An agent that refreshes its tokens stays connected. Its key expires together with its refresh token. */
export async function extendAgent({ graph }: WithGraph, key: Node<'key'>, expiresAt: number): Promise<void> {
  const options = { anchor: key.workspace, keepsVersion: true };
  await graph.write((transaction) => transaction.update('key', key.id, { expiresAt }, options));
}

/**
 * Idempotent. The authorization server does so when a code or refresh token is used twice, and when the agent revokes
 * its own token. It is recorded as an action of the agent's person.
 */
export async function disconnectGrant(backend: OauthNeeds, grant: string): Promise<void> {
  const key = await findAgent(backend, grant);
  if (key !== null) await disconnectAgent(backend, key);
}

/**
 * RFC 7009 §2.1: an access token, too, ends the agent, for the client that it was issued to. False for another kind of
 * token.
 */
export async function revokeAccessToken(backend: OauthNeeds, token: string, client: string | null): Promise<boolean> {
  const agent = await verified(backend.verifyAgentToken(token));
  if (agent === null) return false;
  const key = await findAnyKey(backend, agent.key);
  // Only a program with a key has a secret, and its token ends with the key.
  if (key?.client == null) return false;
  if (key.client === agent.client && client === agent.client) await disconnectAgent(backend, key);
  return true;
}

async function disconnectAgent(backend: OauthNeeds, key: Node<'key'>): Promise<void> {
  if (key.revokedAt !== null) return;
  await changeAs(
    backend,
    (transaction) => accessOfAgent(transaction, key),
    async ({ transaction, record, announce }) => {
      const present = await transaction.find('key', key.id, key.workspace);
      if (present === null || present.revokedAt !== null) return;
      await removeGrantOfKey(transaction, present);
      await endKey(transaction, present);
      record({ action: 'revoke', subject: key.id, subjectKind: 'key', subjectName: key.name, changes: {} });
      announce({ kind: 'key', key: key.id });
    },
  );
}

/** The agent acts for its person, who may be suspended or removed by now. */
async function accessOfAgent(transaction: Transaction, key: Node<'key'>): Promise<Access> {
  const workspace = await transaction.find('workspace', key.workspace, null);
  const options = { anchor: key.workspace, limitEach: 1 };
  const users = await transaction.follow({ from: 'key', edge: 'user' }, [key.id], options);
  const user = users.get(key.id)?.[0];
  if (workspace === null || user === undefined) throw new Error(`the agent ${key.id} has no workspace or no person`);
  return { workspace, principal: { kind: 'user', user: user.id }, role: 'viewer' };
}

/** Grants have their own kind of text, so that no text of a key gives the digest of a grant. */
function secretOf(grant: string): Secret {
  return new Secret(`oauth grant of an agent ${grant}`);
}

const nameLengthMax = 64;

/** Clients choose any name. A name in this platform has few kinds of letters, and does not look like an id. */
function nameOfAgent(text: string): string {
  const cleaned = text.replace(/[^A-Za-z0-9 .-]+/g, ' ').trim();
  return parseName('key', cleaned.slice(0, nameLengthMax).trim() || 'Agent');
}
