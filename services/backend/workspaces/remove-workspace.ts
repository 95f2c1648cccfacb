import { SvcError } from '../../contracts/errors.ts';
import { parseId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import { announceToMembers } from '../accounts/announce-account.ts';
import { removeGrantOfKey } from '../accounts/remove-grant.ts';
import { type ChangeNeeds, publishEvent } from '../activity/change.ts';
import { repeat, wordsOf } from '../activity/changed-meanwhile.ts';
import type { WithLog } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import type { schema, TypeName } from '../graph/schema.ts';
import type { MailState } from '../mail/mail-state.ts';
import { isBeingRemoved, noSuchWorkspace, requireOperator } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { WithTokenRevocation } from './token-revocation.ts';

type RemovalNeeds = ChangeNeeds & WithLog & WithTokenRevocation;
type OwnedType = { [Type in TypeName]: (typeof schema)[Type]['owned'] extends true ? Type : never }[TypeName];

/** Half of the time that an operation has. A larger workspace takes several calls. */
const callMaxMs = 5000;
/** Objects removed in one transaction, which must not delay others for long. */
const sliceMax = 100;
/** Objects with long texts: each is read before it is removed. */
const longSliceMax = 25;
/** Integrations: their tokens are revoked at the same moment, as many as one workspace may ask for at once. */
const revokedSliceMax = 8;

/**
 * Keys first, so that agents lose their access, then what runs. A member is last: until then the workspace has an
 * owner.
 */
const order = [
  ...['key', 'integration', 'mcpServer', 'status', 'tool', 'toolPattern', 'toolRule', 'file', 'role', 'skill'],
  ...['usage', 'activity', 'invitation', 'member'],
] as const satisfies readonly OwnedType[];
const longTypes: ReadonlySet<TypeName> = new Set(['mcpServer', 'tool', 'skill', 'activity']);

/**
 * Removes a workspace with everything in it. The first transaction closes it for everybody and frees its name; bounded
 * ones then remove its objects. Returns whether nothing is left. A repeated call continues, and so does the garbage
 * collection of every backend, for example after a crash.
 */
export async function removeWorkspace(
  backend: RemovalNeeds,
  principal: TokenPrincipal,
  id: WorkspaceId,
  ifRevision: number | null = null,
): Promise<boolean> {
  requireOperator(principal, 'remove a workspace');
  const closed = await close(backend, id, ifRevision);
  if (closed !== null) {
    backend.log('workspaces').info({ workspace: id, name: closed, operator: principal.name }, 'removes a workspace');
  }
  return await removeContent(backend, id, AbortSignal.timeout(callMaxMs));
}

/** Continues every removal that has begun. */
export async function continueRemovals(backend: RemovalNeeds, signal: AbortSignal): Promise<void> {
  const where = [{ field: 'name', prefix: 'wsp_' }] as const;
  for await (const page of everyPage(backend.graph, { type: 'workspace', anchor: null, where, limit: sliceMax })) {
    for (const workspace of page) {
      if (isBeingRemoved(workspace)) await removeContent(backend, workspace.id, signal);
    }
  }
}

/** Returns the name that the workspace had, or null when it was closed before. */
async function close(backend: RemovalNeeds, id: WorkspaceId, ifRevision: number | null): Promise<string | null> {
  const { before, after } = await backend.graph.write(async (transaction) => {
    const before = await transaction.find('workspace', id, null);
    if (before === null) throw noSuchWorkspace(id);
    if (isBeingRemoved(before)) return { before, after: null };
    if (ifRevision !== null && ifRevision !== before.revision) {
      throw await changedInside(transaction, before, before.revision - ifRevision);
    }
    const changes = { name: id, suspended: true, revision: before.revision + 1 };
    return { before, after: await transaction.update('workspace', id, changes, { anchor: null }) };
  });
  if (after === null) return null;
  publishEvent(backend.bus, after, 'catalogue');
  // Services forget the principals of all keys of the workspace.
  publishEvent(backend.bus, after, 'key');
  await announceToMembers(backend, id);
  return before.name;
}

/** Names the latest changes, at most as many as there were. */
async function changedInside(
  transaction: Transaction,
  { id, name }: Node<'workspace'>,
  count: number,
): Promise<SvcError> {
  const limit = Math.min(Math.max(count, 1), changesShownMax);
  const latest = { type: 'activity', anchor: id, orderBy: 'at', descending: true, limit } as const;
  const { nodes } = await transaction.select(latest);
  const told = nodes.map(
    ({ actorName, action, subjectKind, subjectName }) =>
      `${actorName} ${pastTense[action] ?? action} ${wordsOf(subjectKind)} "${subjectName}"`,
  );
  const what = told.length === 0 ? '' : `: ${told.join('; ')}`;
  return new SvcError('conflict', `The workspace "${name}" was changed meanwhile${what}. Nothing was removed.`, {
    hint: repeat(`svc audit --workspace "${name}"`),
  });
}

const changesShownMax = 5;
const pastTense: Readonly<Record<string, string>> = {
  ...{ create: 'created', update: 'changed', remove: 'removed', restart: 'restarted', revoke: 'revoked' },
};

/** False when the signal was aborted before the end. */
async function removeContent(backend: RemovalNeeds, id: WorkspaceId, signal: AbortSignal): Promise<boolean> {
  await removeRuntimes(backend, id);
  await forgetWaitingMail(backend.graph, id);
  for (const type of order) {
    while (await removeSlice(backend, type, id)) if (signal.aborted) return false;
    if (type === 'mcpServer') await stopMcpServers(backend);
  }
  await backend.graph.write((transaction) => transaction.remove('workspace', id, null));
  return true;
}

/** Whether more may be left. */
async function removeSlice(backend: RemovalNeeds, type: OwnedType, anchor: WorkspaceId): Promise<boolean> {
  if (type === 'integration') return await removeIntegrations(backend, anchor);
  const limit = longTypes.has(type) ? longSliceMax : sliceMax;
  return await backend.graph.write(async (transaction) => {
    if (type === 'key') await removeGrants(transaction, anchor);
    const { nodes } = await transaction.select({ type, anchor, limit });
    for (const node of nodes) await transaction.remove(type, node.id, anchor);
    return nodes.length === limit;
  });
}

async function removeIntegrations(backend: RemovalNeeds, anchor: WorkspaceId): Promise<boolean> {
  const removed = await backend.graph.write(async (transaction) => {
    const { nodes } = await transaction.select({ type: 'integration', anchor, limit: revokedSliceMax });
    for (const { id } of nodes) await transaction.remove('integration', id, anchor);
    return nodes;
  });
  await Promise.all(removed.map((integration) => backend.revokeTokensOf(integration)));
  return removed.length === revokedSliceMax;
}

/** The records of the connected agents among the keys that are next. */
async function removeGrants(transaction: Transaction, anchor: WorkspaceId): Promise<void> {
  const { nodes } = await transaction.select({ type: 'key', anchor, limit: sliceMax });
  for (const key of nodes) await removeGrantOfKey(transaction, key);
}

/** Its invitations lead nowhere. Mail that is being sent ends by itself. */
async function forgetWaitingMail(graph: RemovalNeeds['graph'], workspace: WorkspaceId): Promise<void> {
  const where = [
    { field: 'source', equals: workspace },
    { field: 'state', equals: 'waiting' satisfies MailState },
  ] as const;
  for (let isMore = true; isMore; ) {
    isMore = await graph.write(async (transaction) => {
      const { nodes } = await transaction.select({ type: 'mail', anchor: null, where, limit: sliceMax });
      for (const { id } of nodes) await transaction.remove('mail', id, null);
      return nodes.length === sliceMax;
    });
  }
}

/** The platform's own runtimes fetch their assignments, which lack the removed MCP servers. */
async function stopMcpServers(backend: RemovalNeeds): Promise<void> {
  for await (const page of runtimesAt(backend.graph, platformHome)) {
    backend.commandRuntimes(
      page.map(({ id }) => id),
      { kind: 'assignments' },
    );
  }
}

/** Revokes the runtimes of the workspace, and ends their connections. */
async function removeRuntimes(backend: RemovalNeeds, home: WorkspaceId): Promise<void> {
  const ids: RuntimeId[] = [];
  for await (const page of runtimesAt(backend.graph, home)) ids.push(...page.map(({ id }) => id));
  for (const id of ids) {
    await backend.graph.write(async (transaction) => {
      await removeKeysOf(transaction, id);
      await transaction.remove('runtime', id, null);
    });
    await backend.bus.disconnect(id);
  }
}

function runtimesAt(graph: RemovalNeeds['graph'], home: string): AsyncGenerator<readonly Node<'runtime'>[]> {
  const where = [{ field: 'home', equals: home }] as const;
  return everyPage(graph, { type: 'runtime', anchor: null, where, limit: sliceMax });
}

async function removeKeysOf(transaction: Transaction, runtime: RuntimeId): Promise<void> {
  const where = [{ field: 'runtime', equals: runtime }] as const;
  for await (const keys of everyPage(transaction, { type: 'runtimeKey', anchor: null, where, limit: sliceMax })) {
    for (const { id } of keys) await transaction.remove('runtimeKey', parseId('key', id), null);
  }
}
