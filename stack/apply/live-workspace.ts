import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { LaunchInput } from '../../services/contracts/launch.ts';
import { mcpServersMax } from '../../services/contracts/workspace-limits.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  filesOfSkillQuery,
  type JudgeLaunchQuery,
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
import { inParallel } from '../client/in-parallel.ts';
import type { FileHead } from '../skills/save-files.ts';
import { completeLaunch } from './complete-launch.ts';
import type { WantedMcpServer, WantedWorkspace } from './wanted-workspace.ts';

/** The present content of a workspace, and what the backend says of the launches in the files. */
export interface LiveWorkspace {
  readonly id: string;
  readonly mcpServers: readonly LiveMcpServerFragment[];
  readonly skills: readonly LiveSkillFragment[];
  readonly roles: readonly LiveRoleFragment[];
  /** By skill: the present files, for the skills whose files are wanted. */
  readonly files: ReadonlyMap<string, readonly FileHead[]>;
  readonly runtimes: readonly string[];
  /** By MCP server: the launch that the files ask for, with the fields that they do not name. Null if it lacks a command and a URL. */
  readonly launches: ReadonlyMap<string, LaunchInput | null>;
  /** By MCP server: the future fingerprint of its launch, which shows changed secrets, and why it is not allowed. */
  readonly judged: ReadonlyMap<string, JudgeLaunchQuery['workspace']>;
}

export async function readLive(
  backend: BackendClient,
  wanted: WantedWorkspace,
  signal: AbortSignal | undefined,
): Promise<LiveWorkspace> {
  const until = { signal };
  const workspace = await findWorkspace(backend, wanted.workspace, signal);
  const fetchServers = async () => {
    const found = await everyPage(
      async (page) => (await backend.send(liveMcpServersQuery, { workspace, ...page }, until)).workspace?.mcpServers,
    );
    const byName = new Map(found.map((one) => [one.name, one]));
    const launchOf = ({ name, launch }: WantedMcpServer) => completeLaunch(launch, byName.get(name)?.launch ?? null);
    const launches = wanted.mcpServers.map((one) => [one.name, launchOf(one)] as const);
    // Too many are refused, whatever their launches are.
    const judged = await inParallel(launches.length > mcpServersMax ? [] : launches, async ([name, launch]) => {
      if (launch === null) return [name, null] as const;
      const answer = await backend.send(judgeLaunchQuery, { workspace, name, launch }, until);
      return [name, answer.workspace] as const;
    });
    return { mcpServers: found, launches: new Map(launches), judged: new Map(judged) };
  };
  const fetchSkills = async () => {
    const skills = await everyPage(
      async (page) => (await backend.send(liveSkillsQuery, { workspace, ...page }, until)).workspace?.skills,
    );
    const withFiles = new Set(wanted.skills.flatMap(({ name, files: own }) => (own === undefined ? [] : [name])));
    const concerned = skills.filter(({ name }) => withFiles.has(name));
    const files = await inParallel(concerned, async ({ id, name }) => {
      const answer = await backend.send(filesOfSkillQuery, { workspace, skill: id }, until);
      return [name, answer.workspace?.skill?.files ?? []] as const;
    });
    return { skills, files: new Map(files) };
  };
  const [servers, skills, roles, { workspace: own, platformRuntimes }] = await Promise.all([
    fetchServers(),
    fetchSkills(),
    everyPage(async (page) => (await backend.send(liveRolesQuery, { workspace, ...page }, until)).workspace?.roles),
    backend.send(runtimeNamesQuery, { workspace }, until),
  ]);
  const runtimes = [...(own?.runtimes.nodes ?? []), ...platformRuntimes.nodes].map(({ name }) => name);
  return { id: workspace, ...servers, ...skills, roles, runtimes };
}

/** The content of a workspace, as `svc apply --export` writes it. */
export async function readContent(backend: BackendClient, workspace: string) {
  const [mcpServers, skills, roles] = await Promise.all([
    everyPage(async (page) => (await backend.send(liveMcpServersQuery, { workspace, ...page })).workspace?.mcpServers),
    everyPage(async (page) => (await backend.send(liveSkillsQuery, { workspace, ...page })).workspace?.skills),
    everyPage(async (page) => (await backend.send(liveRolesQuery, { workspace, ...page })).workspace?.roles),
  ]);
  return { mcpServers, skills, roles };
}

async function findWorkspace(backend: BackendClient, name: string, signal: AbortSignal | undefined): Promise<string> {
  const { workspace } = await backend.send(workspaceQuery, { name }, { signal });
  if (workspace !== null) return workspace.id;
  const { workspaces } = await backend.send(workspaceNamesQuery, {}, { signal });
  const names = workspaces.nodes.map((known) => known.name);
  throw new SvcError('not_found', `There is no workspace "${name}". ${suggestion(name, names)}`);
}
