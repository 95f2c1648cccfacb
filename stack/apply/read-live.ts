import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  judgeLaunchQuery,
  type LiveMcpServerFragment,
  type LiveRoleFragment,
  type LiveSkillFragment,
  liveMcpServersQuery,
  liveRolesQuery,
  liveSkillsQuery,
  runtimeNamesQuery,
  workspaceNamesQuery,
  workspaceQuery,
} from '../client/generated/operations.ts';
import { inParallel } from './in-parallel.ts';
import type { Launch } from './wanted-workspace.ts';

/** What a workspace holds now. */
export interface Live {
  readonly workspaceId: string;
  readonly mcpServers: readonly LiveMcpServerFragment[];
  readonly skills: readonly LiveSkillFragment[];
  readonly roles: readonly LiveRoleFragment[];
  /** Names of the runtimes that MCP servers may be bound to. */
  readonly runtimes: readonly string[];
}

export async function readLive(backend: BackendClient, name: string, signal: AbortSignal): Promise<Live> {
  const workspace = await findWorkspace(backend, name, signal);
  const [mcpServers, skills, roles, runtimes] = await Promise.all([
    everyPage(async (page) => {
      const answer = await backend.send(liveMcpServersQuery, { workspace, ...page }, { signal });
      return answer.workspace?.mcpServers;
    }),
    everyPage(async (page) => {
      const answer = await backend.send(liveSkillsQuery, { workspace, ...page }, { signal });
      return answer.workspace?.skills;
    }),
    everyPage(async (page) => {
      const answer = await backend.send(liveRolesQuery, { workspace, ...page }, { signal });
      return answer.workspace?.roles;
    }),
    readRuntimes(backend, workspace, signal),
  ]);
  return { workspaceId: workspace, mcpServers, skills, roles, runtimes };
}

async function readRuntimes(backend: BackendClient, id: string, signal: AbortSignal): Promise<readonly string[]> {
  const { workspace, platformRuntimes } = await backend.send(runtimeNamesQuery, { workspace: id }, { signal });
  return [...(workspace?.runtimes.nodes ?? []), ...platformRuntimes.nodes].map(({ name }) => name);
}

async function findWorkspace(backend: BackendClient, name: string, signal: AbortSignal): Promise<string> {
  const { workspace } = await backend.send(workspaceQuery, { name }, { signal });
  if (workspace !== null) return workspace.id;
  const { workspaces } = await backend.send(workspaceNamesQuery, {}, { signal });
  const names = workspaces.nodes.map((known) => known.name);
  throw new SvcError('not_found', `There is no workspace "${name}". ${suggestion(name, names)}`);
}

/** What the backend says of a launch before it is given to an MCP server. */
export interface JudgedLaunch {
  /** Its future fingerprint: the only way to see whether a secret differs. */
  readonly fingerprint: string;
  /** Why the installation does not allow it, or null when it does. */
  readonly refusal: string | null;
}

/** Of each launch in their order. */
export function judgeLaunches(
  backend: BackendClient,
  workspaceId: string,
  launches: readonly Launch[],
  signal: AbortSignal,
): Promise<readonly JudgedLaunch[]> {
  return inParallel(launches, async (launch) => {
    const { workspace } = await backend.send(judgeLaunchQuery, { workspace: workspaceId, launch }, { signal });
    return { fingerprint: workspace?.launchFingerprint ?? '', refusal: workspace?.launchRefusal ?? null };
  });
}
