import { subjects } from '../../contracts/bus/subjects.ts';
import { parseId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { WithBus } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import { pageMax, type WithGraph } from '../graph/graph.ts';

const nothing = new Uint8Array();

/**
 * Every backend looks at the open pages of this person again, and every remote-mcp at the tokens to try tools. A lost
 * message only delays that.
 */
export function announceAccount({ bus }: WithBus, user: UserId): void {
  bus.publish(subjects.account(user), nothing);
}

/** Pages of other workspaces show its name, and nobody follows a workspace that is closed. */
export async function announceToMembers(backend: WithGraph & WithBus, workspace: WorkspaceId): Promise<void> {
  const query = { type: 'member', anchor: workspace, limit: pageMax } as const;
  for await (const members of everyPage(backend.graph, query)) {
    for (const { user } of members) announceAccount(backend, parseId('user', user));
  }
}
