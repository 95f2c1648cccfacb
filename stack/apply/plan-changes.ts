import { type DeclaredSetting, declaredSettings } from '../../services/contracts/declared-settings.ts';
import type { LaunchInput } from '../../services/contracts/launch.ts';
import { withoutSecretWords } from '../../services/contracts/secret-words.ts';
import { type ToolRuleEffect, toolRuleEffects } from '../../services/contracts/tool-rules.ts';
import type {
  JudgeLaunchQuery,
  LiveMcpServerFragment,
  LiveRoleFragment,
  LiveSkillFragment,
} from '../client/generated/operations.ts';
import type { FileHead } from '../skills/save-files.ts';
import type { LiveWorkspace } from './live-workspace.ts';
import type { WantedMcpServer, WantedObject, WantedRole, WantedSkill, WantedWorkspace } from './wanted-workspace.ts';

/** The changes that make a workspace as the files want it. Without `prune`, objects that no file names stay. */
export interface Plan {
  readonly wanted: WantedWorkspace;
  readonly live: LiveWorkspace;
  readonly mcpServers: readonly PlannedChange<WantedMcpServer, LiveMcpServerFragment>[];
  readonly skills: readonly PlannedChange<WantedSkill, LiveSkillFragment>[];
  readonly roles: readonly PlannedChange<WantedRole, LiveRoleFragment>[];
  readonly removals: Removals;
}

export interface PlannedChange<Wanted, Live> {
  readonly wanted: Wanted;
  /** Null: it does not exist yet. */
  readonly live: Live | null;
  readonly action: 'create' | 'update' | 'none';
  /** The fields that an update changes. */
  readonly differences: readonly Difference[];
}

/** A field with its present and its future value. A secret value is "[secret]". */
export interface Difference {
  readonly field: string;
  readonly from: Shown;
  readonly to: Shown;
}

/** A list is a set: its order means nothing. */
export type Shown = string | boolean | readonly string[] | null;

/** Objects that no file names, of the kinds that a file lists. */
export interface Removals {
  readonly mcpServers: readonly LiveMcpServerFragment[];
  readonly skills: readonly LiveSkillFragment[];
  readonly roles: readonly LiveRoleFragment[];
}

export interface PlanOptions {
  readonly prune: boolean;
}

export function planChanges(wanted: WantedWorkspace, live: LiveWorkspace, { prune }: PlanOptions): Plan {
  const removed = <Live extends { readonly name: string }>(
    section: 'mcpServers' | 'skills' | 'roles',
    present: readonly Live[],
  ) => (prune && wanted.sections.has(section) ? unnamed(wanted[section], present) : []);
  const complete = (wish: WantedMcpServer) => ({ ...wish, launch: live.launches.get(wish.name) ?? wish.launch });
  return {
    wanted,
    live,
    mcpServers: compare(wanted.mcpServers.map(complete), live.mcpServers, (wish, present) =>
      mcpServerDifferences(wish, present, live.judged.get(wish.name) ?? null),
    ),
    skills: compare(wanted.skills, live.skills, (wish, present) =>
      skillDifferences(wish, present, live.files.get(wish.name) ?? []),
    ),
    roles: compare(wanted.roles, live.roles, roleDifferences),
    removals: {
      mcpServers: removed('mcpServers', live.mcpServers),
      skills: removed('skills', live.skills),
      roles: removed('roles', live.roles),
    },
  };
}

function unnamed<Live extends { readonly name: string }>(
  wishes: readonly WantedObject[],
  present: readonly Live[],
): readonly Live[] {
  const names = new Set(wishes.map(({ name }) => name));
  return present.filter(({ name }) => !names.has(name));
}

function compare<Wanted extends WantedObject, Live extends { readonly name: string }>(
  wishes: readonly Wanted[],
  present: readonly Live[],
  differencesOf: (wish: Wanted, present: Live) => readonly Difference[],
): readonly PlannedChange<Wanted, Live>[] {
  const byName = new Map(present.map((one) => [one.name, one]));
  return wishes.map((wanted) => {
    const live = byName.get(wanted.name);
    if (live === undefined) return { wanted, live: null, action: 'create', differences: [] };
    const differences = differencesOf(wanted, live);
    return { wanted, live, action: differences.length === 0 ? 'none' : 'update', differences };
  });
}

/** Nothing for a field that the file does not name, or that has this value already. */
function difference(field: string, from: Shown, to: Shown | undefined): readonly Difference[] {
  if (to === undefined || isSame(from, to)) return [];
  return [{ field, from, to }];
}

function isSame(from: Shown, to: Shown): boolean {
  if (!isList(from) || !isList(to)) return from === to;
  return new Set(from).symmetricDifference(new Set(to)).size === 0;
}

function isList(shown: Shown): shown is readonly string[] {
  return Array.isArray(shown);
}

function mcpServerDifferences(
  wish: WantedMcpServer,
  { launch, enabled, runtimes, startTimeout, callTimeout }: LiveMcpServerFragment,
  judged: JudgeLaunchQuery['workspace'],
): readonly Difference[] {
  const [bound] = runtimes;
  const isOnPlatform = runtimes.every(({ platform }) => platform);
  const runtime = wish.runtime === null ? (isOnPlatform ? undefined : platformRuntime) : wish.runtime;
  const isSameLaunch = launch?.fingerprint === judged?.launchFingerprint;
  const settings = judged?.mcpServer?.changedSettings ?? [];
  return [
    ...(isSameLaunch ? [] : launchDifferences(wish.launch, launch)),
    ...(isSameLaunch ? [] : settings.map((field) => settingDifference(field, wish.launch, launch))),
    ...(isSameLaunch ? [] : declarationDifferences(wish.launch, launch)),
    // When an operator applies it, the operator becomes the author.
    ...difference('setBy', launch?.setBy ?? 'operator', 'operator'),
    ...difference('runtime', bound?.name ?? platformRuntime, runtime),
    ...difference('enabled', enabled, wish.enabled),
    ...difference('startTimeout', shownSeconds(startTimeout), secondsOf(wish.startTimeout)),
    ...difference('callTimeout', shownSeconds(callTimeout), secondsOf(wish.callTimeout)),
  ];
}

function secondsOf(wanted: number | undefined): string | undefined {
  return wanted === undefined ? undefined : shownSeconds(wanted);
}

/** 0, like null, stands for the setting of the platform. */
function shownSeconds(seconds: number | null): string {
  return seconds === null || seconds === 0 ? "the platform's" : `${seconds} s`;
}

const platformRuntime = "the platform's own";

function launchDifferences(wish: LaunchInput, live: LiveLaunch): readonly Difference[] {
  return (['command', 'args', 'cwd', 'url'] as const).flatMap((field) => {
    const [from, to] = [live?.[field], wish[field]];
    if (to === undefined || textOf(from) === textOf(to)) return [];
    return [{ field, from: textOf(withoutSecrets(from)), to: textOf(withoutSecrets(to)) }];
  });
}

type LiveLaunch = LiveMcpServerFragment['launch'];

/** A setting that the backend says will change, such as env.TOKEN. A secret one has another value. */
function settingDifference(field: string, wish: LaunchInput, live: LiveLaunch): Difference {
  const isHeader = field.startsWith('headers.');
  const name = field.slice(field.indexOf('.') + 1);
  const isIt = (setting: { readonly name: string }) =>
    isHeader ? setting.name.toLowerCase() === name : setting.name === name;
  const before = (isHeader ? live?.headers : live?.env)?.find(isIt);
  const after = ((isHeader ? wish.headers : wish.env) ?? []).find(isIt);
  return {
    field,
    from: before === undefined ? null : (before.value ?? secret),
    to: after === undefined ? null : after.secret === false ? (after.value ?? null) : secret,
  };
}

/** Declared settings that the file changes, such as settings.TOKEN, and the order in which people see them. */
function declarationDifferences(wish: LaunchInput, live: LiveLaunch): readonly Difference[] {
  if (wish.settings == null) return [];
  const field = wish.url == null ? 'env' : 'headers';
  const before = new Map((live?.settings ?? []).map((one) => [one.name, declarationInWords(one)]));
  const wanted = declaredSettings(field, wish.settings);
  const after = new Map(wanted.map((one) => [one.name, declarationInWords(one)]));
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const differences = names.flatMap((name) =>
    difference(`settings.${name}`, before.get(name) ?? null, after.get(name) ?? null),
  );
  if (differences.length > 0) return differences;
  return difference('settings', [...before.keys()].join(', '), [...after.keys()].join(', '));
}

function declarationInWords({ title, description, secret: hides, required }: DeclaredSetting): string {
  const words = [required ? 'required' : 'optional', ...(hides ? ['secret'] : [])].join(', ');
  const texts = [title, description].filter((text) => text !== '');
  return texts.length === 0 ? words : `${words}: ${texts.join(' · ')}`;
}

const secret = '[secret]';

type LaunchValue = string | readonly string[] | null | undefined;

/** A launch that was not checked by a file may have a secret in an argument or an address, which nothing may show. */
function withoutSecrets(value: LaunchValue): LaunchValue {
  if (value === null || value === undefined) return value;
  return typeof value === 'string' ? withoutSecretWords([value])[0] : withoutSecretWords(value);
}

/** Arguments are one text, because their order matters. */
function textOf(value: LaunchValue): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  return value.length === 0 ? null : JSON.stringify(value);
}

function skillDifferences(
  wish: WantedSkill,
  live: LiveSkillFragment,
  liveFiles: readonly FileHead[],
): readonly Difference[] {
  const liveTools = refsOfSkill(live);
  return [
    ...difference('description', live.description, wish.description),
    ...difference('instructions', live.instructions, wish.instructions),
    ...difference(
      'tools',
      liveTools,
      wish.tools?.map(({ mcpServer, tool }) => `${mcpServer}/${tool}`),
    ),
    ...difference('files', liveFiles.map(shownFile), wish.files?.map(shownFile)),
  ];
}

function shownFile({ path, digest, sizeBytes }: FileHead): string {
  return `${path} (${sizeBytes} bytes, sha256 ${digest.slice(0, 12)})`;
}

/** The named tools and the patterns of a skill, as MCPSERVER/TOOL, in order. */
export function refsOfSkill({
  namedTools,
  patterns,
}: Pick<LiveSkillFragment, 'namedTools' | 'patterns'>): readonly string[] {
  return [
    ...namedTools.map(({ mcpServer, originalName }) => `${mcpServer.name}/${originalName}`),
    ...patterns.map(({ mcpServer, pattern }) => `${mcpServer.name}/${pattern}`),
  ].sort();
}

function roleDifferences(wish: WantedRole, live: LiveRoleFragment): readonly Difference[] {
  const liveSkills = live.skills.map(({ name }) => name);
  return [
    ...difference('description', live.description, wish.description),
    ...difference('enabled', live.enabled, wish.enabled),
    ...difference('skills', liveSkills, wish.skills),
    ...difference('readOnly', live.readOnly, wish.readOnly),
    ...toolRuleEffects.flatMap((effect) =>
      difference(
        effect,
        refsOfRules(live, effect),
        wish[effect]?.map(({ mcpServer, tool }) => `${mcpServer}/${tool}`),
      ),
    ),
  ];
}

/** The tools that a role allows or denies, as MCPSERVER/TOOL, in order. */
export function refsOfRules({ rules }: Pick<LiveRoleFragment, 'rules'>, effect: ToolRuleEffect): readonly string[] {
  return rules
    .filter((rule) => rule.effect === effect)
    .map(({ mcpServer, tool }) => `${mcpServer.name}/${tool}`)
    .sort();
}
