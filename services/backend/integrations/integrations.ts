import { type Reason, reason } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { parseId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import type { ChangeNeeds } from '../activity/change.ts';
import { publishEvent } from '../activity/change.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';
import type { GuardedFetch } from '../http/guarded-fetch.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { runtimesPerServerMax, runtimesRunning } from '../servers/bound-runtimes.ts';
import { decryptLaunch } from '../servers/launch.ts';

export interface Integrations {
  readonly fetch: GuardedFetch;
  /** Requests of people to authorization servers. Workspaces take turns. */
  readonly queue: FairQueue;
}

export type IntegrationNeeds = ChangeNeeds &
  WithSecrets &
  WithLog &
  WithConfig & { readonly integrations: Integrations };

export function newIntegrationQueue(): FairQueue {
  return new FairQueue({
    ...{ atOnce: 16, runningEachMax: 4, waitingMax: 256, waitingEachMax: 8 },
    // With the requests this is less than an operation has.
    ...{ waitMaxMs: 3000, what: 'authorizations' },
  });
}

export interface Connection {
  readonly integration: Node<'integration'>;
  readonly server: Node<'mcpServer'>;
}

export async function getConnection(
  graph: Pick<Graph, 'find'>,
  workspace: WorkspaceId,
  id: string,
): Promise<Connection> {
  const integration = await graph.find('integration', parseId('integration', id), workspace);
  const server =
    integration === null ? null : await graph.find('mcpServer', parseId('mcpServer', integration.mcpServer), workspace);
  if (integration === null || server === null) {
    throw new SvcError('not_found', `There is no integration "${id}".`);
  }
  return { integration, server };
}

/** The present URL of the MCP server. */
export function urlOf(backend: WithSecrets & WithConfig, server: Node<'mcpServer'>): URL {
  const url = findUrl(backend, server);
  if (url === null) throw new SvcError('conflict', `The MCP server "${server.name}" has no URL any more.`);
  return url;
}

/** Null: it is a command now. */
export function findUrl(backend: WithSecrets & WithConfig, server: Node<'mcpServer'>): URL | null {
  const { launch } = decryptLaunch(backend, server);
  return launch.kind === 'http' ? URL.parse(launch.url) : null;
}

/** Whether tokens for one URL may be sent to another: same origin and path. */
export function isSameUrl(one: URL, other: URL): boolean {
  return one.origin === other.origin && one.pathname === other.pathname;
}

/** Runtimes that run the MCP server fetch its new token. */
export async function giveNewToken(transaction: Transaction, server: Node<'mcpServer'>): Promise<readonly RuntimeId[]> {
  const anchor = server.workspace;
  const tokenVersion = (server.tokenVersion ?? 0) + 1;
  await transaction.update('mcpServer', server.id, { tokenVersion }, { anchor, keepsVersion: true });
  const edge = { from: 'mcpServer', edge: 'runtimes' } as const;
  const ends = await transaction.follow(edge, [server.id], { anchor, limitEach: runtimesPerServerMax });
  return (await runtimesRunning(transaction, ends.get(server.id) ?? [])).map(({ id }) => id);
}

/** A change by the platform: it raises `statusRevision` and records no activity. Open pages show it. */
export async function noteByPlatform(
  backend: ChangeNeeds,
  workspace: WorkspaceId,
  work: (transaction: Transaction) => Promise<readonly RuntimeId[]>,
): Promise<void> {
  const stored = await backend.graph.write(async (transaction) => {
    const runtimes = await work(transaction);
    const node = await transaction.find('workspace', workspace, null);
    if (node === null) return null;
    const statusRevision = node.statusRevision + 1;
    return { runtimes, node: await transaction.update('workspace', workspace, { statusRevision }, { anchor: null }) };
  });
  if (stored === null) return;
  publishEvent(backend.bus, stored.node, 'status');
  backend.commandRuntimes(stored.runtimes, { kind: 'assignments' });
}

export const noTokens = { tokens: null, dueAt: null, expiresAt: null, attempts: 0 } as const;

export function problem(why: Reason): string {
  return JSON.stringify(why);
}

export function findProblem({ problem: text }: Node<'integration'>): Reason | null {
  return text === null ? null : reason.parse(JSON.parse(text));
}
