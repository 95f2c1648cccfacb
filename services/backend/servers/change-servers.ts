import { isDeepStrictEqual } from 'node:util';
import { newId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import type { LaunchInput } from '../../contracts/launch.ts';
import { parseName } from '../../contracts/names.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { mcpServersMax } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { findSince, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { findSender, type Sender } from '../bus/sender.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import { getNode, requireFreeName, tooMany } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { replaceEdges } from '../graph/replace-edges.ts';

import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { getRuntimeNamed, runtimesPerServerMax, runtimesRunning } from './bound-runtimes.ts';
import { checkCommand, parseCommandRule } from './command-rule.ts';
import { type CompleteLaunch, completeLaunch, type Keeping, requireOwnSecrets } from './kept-settings.ts';
import { decryptLaunch, encryptLaunch, fingerprintOf, type KeptLaunch, launchChanges, missingIn } from './launch.ts';
import { noDeadlines, parseDeadlines } from './parse-deadlines.ts';

export type ServerChangeNeeds = ChangeNeeds & WithConfig & WithSecrets;

export interface McpServerInput {
  readonly name: string;
  readonly launch: LaunchInput;
  /** Name of the runtime that runs it; absent or empty: the platform's own. */
  readonly runtime?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  /** In seconds; absent or 0: those of the platform. */
  readonly startTimeout?: number | null | undefined;
  readonly callTimeout?: number | null | undefined;
}

/** An absent or null field stays unchanged; an empty `runtime` or a timeout of 0 stands for the platform's own. */
export interface McpServerPatch {
  readonly name?: string | null | undefined;
  readonly launch?: LaunchInput | null | undefined;
  readonly runtime?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly startTimeout?: number | null | undefined;
  readonly callTimeout?: number | null | undefined;
  readonly ifVersion?: number | null | undefined;
}

export function createMcpServer(
  backend: ServerChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  input: McpServerInput,
): Promise<Node<'mcpServer'>> {
  return change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { transaction } = change;
    const name = parseName('mcpServer', input.name);
    const kept = { ...allowedLaunch(backend, input.launch, null), setBy: authorOf(principal) };
    const deadlines = parseDeadlines(input, noDeadlines);
    await requireFreeName(transaction, 'mcpServer', name, workspace);
    if ((await transaction.count({ type: 'mcpServer', anchor: workspace, limit: 1 })) >= mcpServersMax) {
      throw tooMany('MCP servers in a workspace', mcpServersMax);
    }
    const id = newId('mcpServer');
    const server = await transaction.create('mcpServer', {
      id,
      workspace,
      name,
      kind: kept.launch.kind,
      launch: encryptLaunch(backend, id, kept),
      configVersion: 1,
      tokenVersion: null,
      enabled: input.enabled ?? true,
      ...deadlines,
      createdAt: Date.now(),
    });
    const runtimes = await bind(change, server, input.runtime ?? '');
    const changes = {
      ...differences({}, { kind: server.kind, enabled: server.enabled }),
      ...differences({}, { ...deadlines }),
      ...differences({ runtime: runtimes.before }, { runtime: runtimes.after }),
      ...launchChanges(null, kept),
    };
    change.record({ action: 'create', subject: id, subjectKind: 'mcpServer', subjectName: name, changes });
    change.announce({ kind: 'command', runtimes: runtimes.affected, command: { kind: 'assignments' } });
    return server;
  });
}

export function updateMcpServer(
  backend: ServerChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
  patch: McpServerPatch,
): Promise<Node<'mcpServer'>> {
  return change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { transaction } = change;
    const { ifVersion } = patch;
    const before = await findSince(change, 'mcpServer', { id, ifVersion }, () =>
      getNode(transaction, 'mcpServer', id, workspace),
    );
    await requireVersion(change, 'mcpServer', before, ifVersion);
    const name = patch.name == null ? before.name : parseName('mcpServer', patch.name);
    if (name !== before.name) await requireFreeName(transaction, 'mcpServer', name, workspace);
    const enabled = patch.enabled ?? before.enabled;
    const deadlines = parseDeadlines(patch, before);
    const runtimes = await bind(change, before, patch.runtime ?? null);
    const isMoved = !isDeepStrictEqual(runtimes.before, runtimes.after);
    const relaunch = findRelaunch(backend, before, {
      launch: patch.launch ?? null,
      isMoved,
      author: authorOf(principal),
    });
    const changes = {
      ...differences(before, { name, enabled, ...deadlines }),
      ...differences({ runtime: runtimes.before }, { runtime: runtimes.after }),
      ...relaunch?.changes,
    };
    if (Object.keys(changes).length === 0) return before;
    change.record({ action: 'update', subject: before.id, subjectKind: 'mcpServer', subjectName: name, changes });
    change.announce({ kind: 'command', runtimes: runtimes.affected, command: { kind: 'assignments' } });
    return await transaction.update(
      'mcpServer',
      before.id,
      { name, enabled, ...deadlines, ...relaunch?.fields },
      { anchor: workspace },
    );
  });
}

/** Restarts it everywhere. */
export function restartMcpServer(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
): Promise<void> {
  return change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const server = await getNode(change.transaction, 'mcpServer', id, workspace);
    const processes = await processesRunning(change.transaction, server);
    change.record({
      action: 'restart',
      subject: server.id,
      subjectKind: 'mcpServer',
      subjectName: server.name,
      changes: {},
    });
    change.announce({ kind: 'restart', mcpServer: server.id, processes });
  });
}

/** Checks that this installation allows the launch; the rule is the same for every caller. */
function allowedLaunch(backend: WithConfig, input: LaunchInput, keeping: Keeping | null): CompleteLaunch {
  const complete = completeLaunch(input, keeping);
  checkCommand(parseCommandRule(backend.config.MCP_SERVER_COMMANDS), complete.launch);
  return complete;
}

/** The author that a launch gets from this principal. */
export function authorOf({ kind }: TokenPrincipal): Author {
  return kind === 'operator' ? 'operator' : 'member';
}

interface LaunchChange {
  readonly launch: LaunchInput | null;
  /** Moved to another runtime, on which the same command is another program. */
  readonly isMoved: boolean;
  readonly author: Author;
}

/**
 * The fields of a new launch, or null when nothing changes. A member who changes a part becomes the author of the whole
 * launch, so that a member must know its secret values. An operator becomes its author by giving a launch, even an
 * unchanged one. It restarts unless only the visibility or the description of settings changes.
 */
function findRelaunch(
  backend: ServerChangeNeeds,
  server: Node<'mcpServer'>,
  { launch, isMoved, author }: LaunchChange,
) {
  if (launch === null && !isMoved) return null;
  const { secrets } = backend;
  const before = decryptLaunch(backend, server);
  const keeping = { name: server.name, kept: before, author };
  // The other runtime may be the member's own machine, which would get the secrets.
  if (launch === null) requireOwnSecrets(keeping);
  const given = launch === null ? before : allowedLaunch(backend, launch, keeping);
  const isOther = !isDeepStrictEqual(given.launch, before.launch);
  const takesOver = author === 'operator' ? launch !== null : isOther || isMoved;
  const after: KeptLaunch = { ...given, setBy: takesOver ? author : before.setBy };
  const isFilledOtherwise = !isDeepStrictEqual(missingIn(before), missingIn(after));
  const restarts = isOther || isFilledOtherwise || after.setBy !== before.setBy;
  if (!restarts && fingerprintOf(secrets, after) === fingerprintOf(secrets, before)) return null;
  return {
    changes: launchChanges(before, after),
    fields: {
      kind: after.launch.kind,
      launch: encryptLaunch(backend, server.id, after),
      configVersion: server.configVersion + (restarts ? 1 : 0),
    },
  };
}

/**
 * Binds it to the runtime with that name, to none if the name is empty, or leaves it unchanged. Returns the runtimes
 * that a change affects.
 */
async function bind(change: Change, server: Node<'mcpServer'>, name: string | null): Promise<Binding> {
  const { transaction, workspace } = change;
  if (name === null) return { before: [], after: [], affected: await runtimesOf(change, server) };
  const to = name.trim() === '' ? [] : [(await getRuntimeNamed(transaction, workspace, name)).id];
  const { before, after } = await replaceEdges(transaction, runtimes, { from: server.id, anchor: workspace, to });
  const affected = [...(await runtimesRunning(transaction, before)), ...(await runtimesRunning(transaction, after))];
  return { before: before.map(nameOf), after: after.map(nameOf), affected: [...new Set(affected.map(idOf))] };
}

interface Binding {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly affected: readonly RuntimeId[];
}

const runtimes = { from: 'mcpServer', edge: 'runtimes' } as const;

/** Processes with a status of it. */
async function processesRunning(transaction: Transaction, { id, workspace }: Node<'mcpServer'>) {
  const where = [{ field: 'mcpServer' as const, equals: id }];
  const processes: Sender[] = [];
  for await (const statuses of everyPage(transaction, { type: 'status', anchor: workspace, where, limit: 100 })) {
    processes.push(...statuses.flatMap((status) => findSender(status) ?? []));
  }
  return processes;
}

/** The runtimes that run it now. */
export async function runtimesOf(
  { transaction, workspace }: Change,
  server: Node<'mcpServer'>,
): Promise<readonly RuntimeId[]> {
  const ends = await transaction.follow(runtimes, [server.id], { anchor: workspace, limitEach: runtimesPerServerMax });
  return (await runtimesRunning(transaction, ends.get(server.id) ?? [])).map(idOf);
}

function idOf({ id }: Node<'runtime'>): RuntimeId {
  return id;
}

function nameOf({ name }: Node<'runtime'>): string {
  return name;
}
