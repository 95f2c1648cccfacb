import type { LaunchInput } from '../../services/contracts/launch.ts';
import type { LiveMcpServerFragment, LiveRoleFragment, LiveSkillFragment } from '../client/generated/operations.ts';
import type { LiveWorkspace } from './live-workspace.ts';
import type { WantedMcpServer, WantedObject, WantedRole, WantedSkill, WantedWorkspace } from './wanted-workspace.ts';

/** The changes that make a workspace as the files want it. Objects that no file names stay. */
export interface Plan {
  readonly wanted: WantedWorkspace;
  readonly live: LiveWorkspace;
  readonly mcpServers: readonly PlannedChange<WantedMcpServer, LiveMcpServerFragment>[];
  readonly skills: readonly PlannedChange<WantedSkill, LiveSkillFragment>[];
  readonly roles: readonly PlannedChange<WantedRole, LiveRoleFragment>[];
}

export interface PlannedChange<Wanted, Live> {
  readonly wanted: Wanted;
  /** Null: it does not exist yet. */
  readonly live: Live | null;
  readonly action: 'create' | 'update' | 'none';
  /** The names of fields that differ; never a value, which may be secret. */
  readonly fields: readonly string[];
}

export function planChanges(wanted: WantedWorkspace, live: LiveWorkspace): Plan {
  return {
    wanted,
    live,
    mcpServers: compare(wanted.mcpServers, live.mcpServers, (wish, present) =>
      mcpServerDifference(wish, present, live.judged.get(wish.name)?.launchFingerprint),
    ),
    skills: compare(wanted.skills, live.skills, skillDifference),
    roles: compare(wanted.roles, live.roles, roleDifference),
  };
}

function compare<Wanted extends WantedObject, Live extends { readonly name: string }>(
  wishes: readonly Wanted[],
  present: readonly Live[],
  difference: (wish: Wanted, present: Live) => readonly string[],
): readonly PlannedChange<Wanted, Live>[] {
  const byName = new Map(present.map((one) => [one.name, one]));
  return wishes.map((wanted) => {
    const live = byName.get(wanted.name);
    if (live === undefined) return { wanted, live: null, action: 'create', fields: [] };
    const fields = difference(wanted, live);
    return { wanted, live, action: fields.length === 0 ? 'none' : 'update', fields };
  });
}

function mcpServerDifference(
  wish: WantedMcpServer,
  { launch, enabled, runtimes }: LiveMcpServerFragment,
  fingerprint: string | undefined,
): readonly string[] {
  const isOnRuntime =
    wish.runtime === null
      ? runtimes.every(({ platform }) => platform)
      : runtimes.some(({ name }) => name === wish.runtime);
  return [
    ...(launch?.fingerprint === fingerprint ? [] : launchDifference(wish.launch, launch)),
    // When an operator applies it, the operator becomes the author.
    ...(launch?.setBy === 'member' ? ['setBy'] : []),
    ...(isOnRuntime ? [] : ['runtime']),
    ...(wish.enabled === enabled ? [] : ['enabled']),
  ];
}

const visibleFields = ['command', 'args', 'cwd', 'url'] as const;

/** The fingerprint says that something differs; when no visible field does, it is a secret. */
function launchDifference(wish: LaunchInput, live: LiveMcpServerFragment['launch']): readonly string[] {
  const differing = visibleFields.filter((field) => {
    const empty = field === 'args' ? [] : null;
    return wish[field] !== undefined && JSON.stringify(wish[field]) !== JSON.stringify(live?.[field] ?? empty);
  });
  return differing.length > 0 ? differing : [wish.url === undefined ? 'env' : 'headers'];
}

function skillDifference(wish: WantedSkill, live: LiveSkillFragment): readonly string[] {
  const wantedTools = wish.tools.map(({ mcpServer, tool }) => `${mcpServer}/${tool}`);
  const liveTools = live.tools.map(({ mcpServer, originalName }) => `${mcpServer.name}/${originalName}`);
  return [
    ...(wish.description === live.description ? [] : ['description']),
    ...(wish.instructions === live.instructions ? [] : ['instructions']),
    ...(isSameSet(wantedTools, liveTools) ? [] : ['tools']),
  ];
}

function roleDifference(wish: WantedRole, live: LiveRoleFragment): readonly string[] {
  const liveSkills = live.skills.map(({ name }) => name);
  return [
    ...(wish.description === live.description ? [] : ['description']),
    ...(wish.enabled === live.enabled ? [] : ['enabled']),
    ...(isSameSet(wish.skills, liveSkills) ? [] : ['skills']),
  ];
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).symmetricDifference(new Set(b)).size === 0;
}
