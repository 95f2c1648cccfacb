import { relative, sep } from 'node:path';
import { Document } from 'yaml';
import { withoutSecretWords } from '../../services/contracts/secret-words.ts';
import type { LiveMcpServerFragment, LiveRoleFragment, LiveSkillFragment } from '../client/generated/operations.ts';
import { refsOfRules, refsOfSkill } from './plan-changes.ts';

export interface Exported {
  readonly workspace: string;
  readonly mcpServers: readonly LiveMcpServerFragment[];
  readonly skills: readonly LiveSkillFragment[];
  readonly roles: readonly LiveRoleFragment[];
}

export interface ExportOptions {
  /** The folder of the file: paths in it are relative to it. */
  readonly folder: string;
  /** The address of the JSON Schema, for editors. */
  readonly schema: string;
  /** The folders of skills with files, by the name of the skill, relative to the file. */
  readonly skillFolders: ReadonlyMap<string, string>;
}

export interface ExportedFile {
  readonly text: string;
  /** The variables that hold the secrets, whose values the platform does not show. */
  readonly variables: readonly string[];
}

/** The apply file for what exists. Applied to the same workspace with these variables, it changes nothing. */
export function exportFile({ workspace, mcpServers, skills, roles }: Exported, options: ExportOptions): ExportedFile {
  const variables = variablesOf(mcpServers);
  const document = new Document({
    workspace,
    mcpServers: Object.fromEntries(
      byName(mcpServers).map((server) => [server.name, exportServer(server, variables, options.folder)]),
    ),
    skills: byName(skills).map((skill) => exportSkill(skill, options.skillFolders.get(skill.name))),
    roles: byName(roles).map(exportRole),
  });
  document.commentBefore = ` yaml-language-server: $schema=${options.schema}`;
  return { text: document.toString({ lineWidth: 0 }), variables: [...new Set(variables.values())].sort() };
}

/** Two exports of the same content are the same text. */
function byName<Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

type LiveLaunch = NonNullable<LiveMcpServerFragment['launch']>;
type Settings = LiveLaunch['env'];

function exportServer(server: LiveMcpServerFragment, variables: Variables, folder: string) {
  const { name, launch, runtimes, enabled, startTimeout, callTimeout } = server;
  const settings = (of: Settings) =>
    Object.fromEntries(
      of.map(({ name: setting, value }) => [setting, value ?? { fromEnv: variables.get(keyOf(name, setting)) }]),
    );
  // A launch that was not checked by a file may have a secret in an argument or an address.
  const [command, ...args] = withoutSecretWords([launch?.command ?? '', ...(launch?.args ?? [])]);
  const [url] = withoutSecretWords([launch?.url ?? '']);
  const bound = runtimes.find(({ platform }) => !platform);
  return withoutEmpty({
    command,
    args,
    cwd: launch?.cwd == null ? null : pathFrom(folder, launch.cwd),
    env: settings(launch?.env ?? []),
    url,
    headers: settings(launch?.headers ?? []),
    settings: declarationsOf(launch?.settings ?? []),
    runtime: bound?.name,
    enabled: enabled ? null : false,
    startTimeout,
    callTimeout,
  });
}

/** Without what is usual: a setting is secret and required. */
function declarationsOf(declared: LiveLaunch['settings']) {
  return Object.fromEntries(
    declared.map(({ name, title, description, secret, required }) => [
      name,
      withoutEmpty({ title, description, secret: secret ? null : false, required: required ? null : false }),
    ]),
  );
}

function exportSkill(skill: LiveSkillFragment, from: string | undefined) {
  const { name, description, instructions } = skill;
  const tools = refsOfSkill(skill);
  // Its folder holds the description and the instructions too.
  if (from !== undefined) return withoutEmpty({ name, from, tools });
  return withoutEmpty({ name, description, instructions: instructions === '' ? null : { text: instructions }, tools });
}

function exportRole(role: LiveRoleFragment) {
  const { name, description, enabled, skills, readOnly } = role;
  return withoutEmpty({
    name,
    description,
    enabled: enabled ? null : false,
    skills: skills.map((skill) => skill.name).toSorted(),
    readOnly: readOnly ? true : null,
    allow: refsOfRules(role, 'allow'),
    deny: refsOfRules(role, 'deny'),
  });
}

/** Names of variables by MCP server and setting. */
type Variables = ReadonlyMap<string, string>;

/** A setting with one value everywhere needs one variable; the platform does not tell whether values are equal. */
function variablesOf(mcpServers: readonly LiveMcpServerFragment[]): Variables {
  const secrets = mcpServers.flatMap(({ name, launch }) => [
    ...secretsIn(launch?.env ?? []).map((setting) => ({ server: name, setting, variable: setting })),
    ...secretsIn(launch?.headers ?? []).map((setting) => ({ server: name, setting, variable: `${name}_${setting}` })),
  ]);
  const users = Map.groupBy(secrets, ({ variable }) => variable);
  return new Map(
    secrets.map(({ server, setting, variable }) => {
      const isShared = (users.get(variable) ?? []).length > 1;
      return [keyOf(server, setting), variableName(isShared ? `${server}_${setting}` : variable)];
    }),
  );
}

function secretsIn(settings: Settings): readonly string[] {
  return settings.flatMap(({ name, value }) => (value === null ? [name] : []));
}

function keyOf(server: string, setting: string): string {
  return `${server}\n${setting}`;
}

function variableName(text: string): string {
  return text
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
    .toUpperCase();
}

/** A folder below the file is written relative to it, so that both can move together. */
function pathFrom(folder: string, path: string): string {
  const way = relative(folder, path);
  if (way === '') return '.';
  return way === '..' || way.startsWith(`..${sep}`) ? path : `./${way}`;
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
