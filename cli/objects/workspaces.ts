import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type WorkspacesQuery, workspacesQuery } from '../../stack/client/generated/operations.ts';
import { named } from './platform.ts';

export type Workspace = WorkspacesQuery['workspaces']['nodes'][number];

export function fetchWorkspaces(backend: BackendClient): Promise<Workspace[]> {
  return everyPage(async (page) => (await backend.send(workspacesQuery, { ...page })).workspaces);
}

export async function getWorkspace(backend: BackendClient, given: string): Promise<Workspace> {
  return named('workspace', await fetchWorkspaces(backend), given);
}
