import type { LiveMcpServerFragment, LiveRoleFragment, LiveSkillFragment } from '../client/generated/operations.ts';
import type { Live } from './read-live.ts';
import type { Launch, WantedMcpServer, WantedRole, WantedSkill, WantedWorkspace } from './wanted-workspace.ts';

export interface Change {
  readonly kind: 'mcpServer' | 'skill' | 'role';
  readonly workspace: string;
  readonly name: string;
  readonly action: 'create' | 'update' | 'delete' | 'none';
  /** The names of fields that differ; never a value, which may be secret. */
  readonly fields: readonly string[];
}

/** One change: its name, the live object, and the wanted one. */
export interface PlannedChange<Kind extends Change['kind'], Wish, Present> {
  readonly change: Change & { readonly kind: Kind };
  /** Null: it is removed. */
  readonly wanted: Wish | null;
  /** Null: it does not exist yet. */
  readonly live: Present | null;
}

export interface Plan {
  readonly workspaceId: string;
  /** Ids of existing skills, by name: roles name their skills by id. */
  readonly skillIds: ReadonlyMap<string, string>;
  readonly mcpServers: readonly PlannedChange<'mcpServer', WantedMcpServer, LiveMcpServerFragment>[];
  readonly skills: readonly PlannedChange<'skill', WantedSkill, LiveSkillFragment>[];
  readonly roles: readonly PlannedChange<'role', WantedRole, LiveRoleFragment>[];
}

export interface Comparison {
  readonly wanted: WantedWorkspace;
  readonly live: Live;
  /** Of each wanted MCP server's launch, in their order. */
  readonly fingerprints: readonly string[];
  /** Removes what no file names. */
  readonly prune: boolean;
}

/** The changes that make the workspace as wanted. */
export function planChanges({ wanted, live, fingerprints, prune }: Comparison): Plan {
  const { workspace } = wanted;
  const fingerprintOf = new Map(wanted.mcpServers.map(({ name }, index) => [name, fingerprints[index]]));
  return {
    workspaceId: live.workspaceId,
    skillIds: new Map(live.skills.map(({ name, id }) => [name, id])),
    mcpServers: steps({ kind: 'mcpServer', workspace, prune }, wanted.mcpServers, live.mcpServers, (wish, present) =>
      mcpServerDifference(wish, present, fingerprintOf.get(wish.name)),
    ),
    skills: steps({ kind: 'skill', workspace, prune }, wanted.skills, live.skills, skillDifference),
    roles: steps({ kind: 'role', workspace, prune }, wanted.roles, live.roles, roleDifference),
  };
}

interface Scope<Kind> {
  readonly kind: Kind;
  readonly workspace: string;
  readonly prune: boolean;
}

function steps<Kind extends Change['kind'], Wish extends { name: string }, Present extends { name: string }>(
  { kind, workspace, prune }: Scope<Kind>,
  wishes: readonly Wish[],
  present: readonly Present[],
  difference: (wish: Wish, present: Present) => readonly string[],
): PlannedChange<Kind, Wish, Present>[] {
  const byName = new Map(present.map((one) => [one.name, one]));
  const named = new Set(wishes.map(({ name }) => name));
  const step = (name: string, action: Change['action'], fields: readonly string[] = []) => ({
    kind,
    workspace,
    name,
    action,
    fields,
  });
  const kept = wishes.map((wanted) => {
    const live = byName.get(wanted.name) ?? null;
    if (live === null) return { change: step(wanted.name, 'create'), wanted, live };
    const fields = difference(wanted, live);
    return { change: step(wanted.name, fields.length === 0 ? 'none' : 'update', fields), wanted, live };
  });
  const gone = present
    .filter(({ name }) => prune && !named.has(name))
    .map((live) => ({ change: step(live.name, 'delete'), wanted: null, live }));
  return [...kept, ...gone];
}

function mcpServerDifference(
  wish: WantedMcpServer,
  { launch, enabled, runtimes }: LiveMcpServerFragment,
  fingerprint: string | undefined,
): readonly string[] {
  const onRuntime =
    wish.runtime === null
      ? runtimes.every(({ platform }) => platform)
      : runtimes.some(({ name }) => name === wish.runtime);
  return [
    ...(launch?.fingerprint === fingerprint ? [] : launchDifference(wish.launch, launch)),
    // When an operator applies it, the operator becomes the author.
    ...(launch?.setBy === 'member' ? ['setBy'] : []),
    ...(onRuntime ? [] : ['runtime']),
    ...(wish.enabled === enabled ? [] : ['enabled']),
  ];
}

/** The fingerprint says that something differs; where nothing that may be seen does, it is a secret. */
function launchDifference(wish: Launch, live: LiveMcpServerFragment['launch']): readonly string[] {
  const seen =
    'url' in wish
      ? { url: wish.url !== live?.url }
      : {
          command: wish.command !== live?.command,
          args: !sameList(wish.args, live?.args ?? []),
          cwd: wish.cwd !== (live?.cwd ?? null),
        };
  const differing = Object.entries(seen).flatMap(([name, differs]) => (differs ? [name] : []));
  return differing.length > 0 ? differing : ['url' in wish ? 'headers' : 'env'];
}

function skillDifference(wish: WantedSkill, live: LiveSkillFragment): readonly string[] {
  const wantedTools = wish.tools.map(({ mcpServer, tool }) => `${mcpServer}/${tool}`);
  const liveTools = live.tools.map(({ mcpServer, originalName }) => `${mcpServer.name}/${originalName}`);
  return [
    ...(wish.description.trim() === live.description ? [] : ['description']),
    ...(wish.instructions === live.instructions ? [] : ['instructions']),
    ...(sameSet(wantedTools, liveTools) ? [] : ['tools']),
  ];
}

function roleDifference(wish: WantedRole, live: LiveRoleFragment): readonly string[] {
  const liveSkills = live.skills.map(({ name }) => name);
  return [
    ...(wish.description.trim() === live.description ? [] : ['description']),
    ...(wish.enabled === live.enabled ? [] : ['enabled']),
    ...(sameSet(wish.skills, liveSkills) ? [] : ['skills']),
  ];
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const first = new Set(a);
  const second = new Set(b);
  return first.size === second.size && [...first].every((item) => second.has(item));
}
