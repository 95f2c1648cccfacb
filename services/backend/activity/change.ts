import type { Command, PlatformEvent } from '../../contracts/bus/messages.ts';
import { type EventKind, subjects } from '../../contracts/bus/subjects.ts';
import type { KeyId, McpServerId, RuntimeId, WorkspaceId } from '../../contracts/ids.ts';
import { type CommandRuntimes, commandProcesses } from '../bus/command-processes.ts';
import type { Sender } from '../bus/sender.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { type Access, type AccessRequest, getAccess } from '../members/access.ts';

import { type ActivityEntry, recordActivity } from './record-activity.ts';

/** One change of a workspace's configuration, as its `work` sees it. */
export interface Change {
  readonly transaction: Transaction;
  readonly access: Access;
  readonly workspace: WorkspaceId;
  /** Records an activity. A change without a record raises no revision and sends no event. */
  record(entry: ActivityEntry): void;
  /** Sends a message to other services once the change is stored. */
  announce(announcement: Announcement): void;
}

/** Messages of a change besides the event `catalogue`, which every change sends. */
export type Announcement =
  /** Services forget the cached principal of this key; without a key, those of the whole workspace. */
  | { readonly kind: 'key'; readonly key?: KeyId }
  /** A command to these runtimes, for example to fetch their assignments again. */
  | { readonly kind: 'command'; readonly runtimes: readonly RuntimeId[]; readonly command: Command }
  /** The processes that run the MCP server restart it. */
  | { readonly kind: 'restart'; readonly mcpServer: McpServerId; readonly processes: readonly Sender[] };

export interface ChangeNeeds extends WithGraph, WithBus {
  readonly commandRuntimes: CommandRuntimes;
}

/**
 * The only way to change a workspace's configuration. One transaction checks the right, does the work, raises the
 * revision and records the activity. Then the bus is notified; a crash in between only delays caches, which compare
 * revisions.
 */
export async function change<Result>(
  backend: ChangeNeeds,
  request: AccessRequest,
  work: (change: Change) => Promise<Result>,
): Promise<Result> {
  return await changeAs(backend, (transaction) => getAccess(transaction, request), work);
}

/** A change whose right `open` proves in the same transaction, for a person who is no member yet. */
export async function changeAs<Opened extends Access, Result>(
  backend: ChangeNeeds,
  open: (transaction: Transaction) => Promise<Opened>,
  work: (change: Change & { readonly access: Opened }) => Promise<Result>,
): Promise<Result> {
  const stored = await backend.graph.write(async (transaction) => {
    const access = await open(transaction);
    const entries: ActivityEntry[] = [];
    const announcements: Announcement[] = [];
    const result = await work({
      transaction,
      access,
      workspace: access.workspace.id,
      record: (entry) => entries.push(entry),
      announce: (announcement) => announcements.push(announcement),
    });
    if (entries.length === 0) return { result, workspace: null, announcements: [] };
    const workspace = await raiseRevision(transaction, access.workspace.id);
    for (const entry of entries) await recordActivity(transaction, access, entry);
    return { result, workspace, announcements };
  });
  if (stored.workspace !== null) publish(backend, stored.workspace, stored.announcements);
  return stored.result;
}

/** The workspace guards every rule over several of its nodes: raising its revision makes two such changes conflict. */
async function raiseRevision(transaction: Transaction, id: WorkspaceId): Promise<Node<'workspace'>> {
  const workspace = await transaction.find('workspace', id, null);
  if (workspace === null) throw new Error(`workspace ${id} vanished inside a change`);
  return await transaction.update('workspace', id, { revision: workspace.revision + 1 }, { anchor: null });
}

function publish(backend: ChangeNeeds, workspace: Node<'workspace'>, announcements: readonly Announcement[]): void {
  publishEvent(backend.bus, workspace, 'catalogue');
  for (const announcement of announcements) {
    switch (announcement.kind) {
      case 'key':
        publishEvent(backend.bus, workspace, 'key', announcement.key);
        break;
      case 'command':
        backend.commandRuntimes(announcement.runtimes, announcement.command);
        break;
      case 'restart':
        commandProcesses(backend.bus, announcement.processes, { kind: 'restart', mcpServer: announcement.mcpServer });
        break;
    }
  }
}

export function publishEvent(bus: WithBus['bus'], workspace: Node<'workspace'>, kind: EventKind, key?: KeyId): void {
  const event: PlatformEvent = {
    version: workspace.revision,
    statusVersion: workspace.statusRevision,
    ...(key === undefined ? {} : { key }),
  };
  bus.publish(subjects.event(workspace.id, kind), new TextEncoder().encode(JSON.stringify(event)));
}
