import { decodeProtectedHeader } from 'jose';
import { type KeyReply, keyRequest, keyRequestMaxBytes, type Principal } from '../../contracts/bus/messages.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, memberKeyOf, operatorKeyOf } from '../../contracts/ids.ts';
import { defaultDisclosure } from '../../contracts/key-disclosure.ts';
import { parseKey } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import { agentTokenType, readScope } from '../../contracts/token.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';
import { allows, isBeingRemoved, parseMemberRole } from '../members/access.ts';
import { findOwner } from '../members/owner.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { UserPrincipal, VerifyAgentToken, VerifyMcpToken } from '../tokens/verify-token.ts';
import { toolsRight } from '../tools/create-tool-token.ts';
import { findAnyKey, findKeyBySecret } from './find-key.ts';
import { disclosureOf, rolesPerKeyMax } from './key-fields.ts';
import { stateOfKey } from './key-state.ts';
import type { LastUsed } from './last-used.ts';

export interface WithAgentTokens {
  readonly verifyAgentToken: VerifyAgentToken;
}

type KeyCheckNeeds = WithGraph & WithSecrets & WithAgentTokens & { readonly verifyMcpToken: VerifyMcpToken };

/** Answers remote-mcp's question about the owner of a key. Several backends take turns. */
export function answerKeyChecks(backend: KeyCheckNeeds & WithBus, lastUsed: LastUsed): Subscription {
  return backend.bus.respond(
    patterns.key,
    async ({ payload }) => {
      const { key } = parseBody(keyRequest, payload, keyRequestMaxBytes);
      const now = Date.now();
      const reply = await checkKey(backend, key, now);
      if (reply.ok) lastUsed.note({ key: reply.principal.key, workspace: reply.principal.workspace, at: now });
      return { payload: toBody(reply), headers: {} };
    },
    { queue: 'backend' },
  );
}

/**
 * The owner of a key, or why it has none (specification part 5, "Agent API keys"). A key of another kind counts as
 * unknown.
 */
export async function checkKey(backend: KeyCheckNeeds, text: string, now: number): Promise<KeyReply> {
  const parsed = parseKey(text);
  if (!parsed.ok || parsed.kind !== 'token') return await checkUserKey(backend, text, now);
  return isAgentToken(text) ? await checkAgentToken(backend, text, now) : await checkCaller(backend, parsed.key);
}

/** Only a key with a text. */
export async function checkUserKey(backend: WithGraph & WithSecrets, text: string, now: number): Promise<KeyReply> {
  const parsed = parseKey(text);
  if (!parsed.ok || (parsed.kind !== 'user' && parsed.kind !== 'legacy')) return refuse('unknown');
  const key = await findKeyBySecret(backend, parsed.key);
  if (key === null) return refuse('unknown');
  return await checkFound(backend, key, now);
}

async function checkFound(backend: WithGraph, key: Node<'key'>, now: number): Promise<KeyReply> {
  const state = stateOfKey(key, now);
  if (state === 'revoked') return refuse('revoked', key.revokedAt);
  if (state === 'expired') return refuse('expired', key.expiresAt);
  const principal = await principalOf(backend, key);
  return principal === null ? refuse('revoked') : { ok: true, principal };
}

/** The type alone chooses the check. A wrong type fails the check that it chooses. */
function isAgentToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === agentTokenType;
  } catch {
    return false;
  }
}

/**
 * The token stands for the key of a connected agent, or for a key that a program exchanged. It expires before the key
 * does.
 */
export async function checkAgentToken(
  backend: WithGraph & WithAgentTokens,
  token: string,
  now: number,
): Promise<KeyReply> {
  const agent = await verified(backend.verifyAgentToken(token));
  const key = agent === null ? null : await findAnyKey(backend, agent.key);
  if (agent === null || key === null || agent.client !== (key.client ?? key.id)) return refuse('unknown');
  const reply = await checkFound(backend, key, now);
  if (!reply.ok) return reply;
  if (reply.principal.user !== agent.user) return refuse('unknown');
  const expiresAt = Math.min(agent.expiresAt, reply.principal.expiresAt ?? agent.expiresAt);
  return { ok: true, principal: { ...reply.principal, expiresAt, readOnly: agent.scope === readScope } };
}

/** Null for a token that is not valid: it counts as an unknown key. */
export async function verified<Owner>(checked: Promise<Owner>): Promise<Owner | null> {
  return await checked.catch((error: unknown) => {
    if (error instanceof SvcError && error.code === 'unauthenticated') return null;
    throw error;
  });
}

/** An operator, or a person who tries tools. Either may call every tool of the workspace. */
async function checkCaller({ graph, verifyMcpToken }: KeyCheckNeeds, token: Secret): Promise<KeyReply> {
  const named = await verified(verifyMcpToken(token.reveal()));
  const workspace = named === null ? null : await graph.find('workspace', named.workspace, null);
  if (named === null || workspace === null || isBeingRemoved(workspace)) return refuse('unknown');
  const caller =
    named.kind === 'operator' ? await operatorIn(graph, workspace, named) : await memberIn(graph, workspace, named);
  if (caller === null) return refuse(named.kind === 'operator' ? 'unknown' : 'revoked');
  return {
    ok: true,
    principal: {
      ...caller,
      workspace: workspace.id,
      workspaceName: workspace.name,
      suspended: workspace.suspended || caller.suspended,
      roles: null,
      disclosure: defaultDisclosure,
      expiresAt: named.expiresAt,
      operator: true,
    },
  };
}

type Caller = Pick<Principal, 'key' | 'keyName' | 'user' | 'suspended'>;

/** The calls of operators are those of the owner. */
async function operatorIn(
  graph: Graph,
  { id }: Node<'workspace'>,
  { name }: { readonly name: string },
): Promise<Caller | null> {
  const owner = await findOwner(graph, id);
  const user = owner === null ? null : findId('user', owner.user);
  return user === null ? null : { key: operatorKeyOf(id), keyName: name, user, suspended: false };
}

/** Null for a person who may no longer administer the workspace: a token outlives a change of the role. */
async function memberIn(
  graph: Graph,
  { id }: Node<'workspace'>,
  { user }: Pick<UserPrincipal, 'user'>,
): Promise<Caller | null> {
  const [member, person] = await Promise.all([graph.findBy('member', { user }, id), graph.find('user', user, null)]);
  if (member === null || person === null || !allows(parseMemberRole(member.role), toolsRight)) return null;
  return { key: memberKeyOf(member.id), keyName: person.email, user, suspended: member.suspended };
}

function refuse(refusal: Extract<KeyReply, { ok: false }>['refusal'], at: number | null = null): KeyReply {
  return { ok: false, refusal, at };
}

/** Null when its user is no longer a member: the key then has no owner. */
async function principalOf({ graph }: WithGraph, key: Node<'key'>): Promise<Principal | null> {
  const anchor = key.workspace;
  const [workspace, users, roles] = await Promise.all([
    graph.find('workspace', anchor, null),
    graph.follow({ from: 'key', edge: 'user' }, [key.id], { anchor, limitEach: 1 }),
    key.allRoles ? null : graph.follow({ from: 'key', edge: 'roles' }, [key.id], { anchor, limitEach: rolesPerKeyMax }),
  ]);
  const user = users.get(key.id)?.[0];
  if (workspace === null || isBeingRemoved(workspace) || user === undefined) return null;
  const member = await graph.findBy('member', { user: user.id }, anchor);
  if (member === null) return null;
  return {
    key: key.id,
    keyName: key.name,
    user: user.id,
    workspace: workspace.id,
    workspaceName: workspace.name,
    suspended: workspace.suspended || member.suspended,
    roles: roles === null ? null : (roles.get(key.id) ?? []).map(({ id }) => id),
    disclosure: disclosureOf(key),
    expiresAt: key.expiresAt,
  };
}
