import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { checkLaunch } from '../../services/contracts/launch.ts';
import { type NameKind, parseDescription, parseName } from '../../services/contracts/names.ts';
import { findSecretWord } from '../../services/contracts/secret-words.ts';
import { instructionsMaxBytes } from '../../services/contracts/workspace-limits.ts';
import { readBounded } from '../machine/bounded-file.ts';
import { isMistakes, type Mistake, type Path, readYaml, type YamlText } from '../settings/yaml-text.ts';
import {
  knownFields,
  type McpServerInFile,
  mcpServer,
  role,
  type Setting,
  type SkillInFile,
  sections,
  skill,
} from './file-schema.ts';
import type { PlacedMistake } from './mistakes.ts';
import { readBeside } from './read-beside.ts';
import { parseSkillFolder, type SkillFolder } from './skill-folder.ts';
import type {
  Launch,
  NamedValue,
  Place,
  WantedMcpServer,
  WantedRole,
  WantedSkill,
  WantedWorkspace,
} from './wanted-workspace.ts';

/** A larger file takes many seconds and gigabytes to parse. */
export const applyFileMaxBytes = 16 * 1024 * 1024;
const envFileMaxBytes = 1024 * 1024;

/**
 * One file and everything it refers to, with every mistake in it. The rest of a mistaken part is read as far as
 * possible.
 */
export interface ReadFile {
  readonly wanted: WantedWorkspace;
  readonly mistakes: readonly PlacedMistake[];
}

/** Content from another source than a file, such as standard input. */
export interface GivenFile {
  /** Its name in messages; files that it names are looked for beside it. */
  readonly path: string;
  readonly text: string;
}

export function readApplyFile(given: string | GivenFile, env: EnvRecord): ReadFile {
  const file = typeof given === 'string' ? given : given.path;
  const text = readYaml(typeof given === 'string' ? readGiven(given) : given.text);
  const mistakes: Mistake[] = [];
  const wanted = isMistakes(text) ? nothing : readSections({ file, text, env, mistakes });
  const found = isMistakes(text) ? text : mistakes;
  return { wanted, mistakes: found.map((mistake) => ({ file, ...mistake })) };
}

function readGiven(file: string): string {
  try {
    return textOf(readBounded(file, { sizeMaxBytes: applyFileMaxBytes }), file);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'unsupported') throw error;
    throw new SvcError('invalid_input', error.message, { hint: 'Pipe it to standard input: … | svc apply -' });
  }
}

const nothing: WantedWorkspace = { workspace: 'Default', mcpServers: [], skills: [], roles: [] };

interface Reading {
  readonly file: string;
  readonly text: YamlText;
  readonly env: EnvRecord;
  readonly mistakes: Mistake[];
}

function readSections(reading: Reading): WantedWorkspace {
  const given = reading.text.value ?? {};
  const known = Object.keys(sections);
  if (!isObject(given)) {
    complain(reading, [], `The file must be fields: ${known.join(', ')}.`);
    return nothing;
  }
  for (const name of Object.keys(given).filter((name) => !known.includes(name))) complainUnknown(reading, [name]);
  const section = <Schema extends z.ZodType>(name: string, schema: Schema) =>
    readPart(reading, [name], schema, given[name] ?? undefined);
  const mcpServers = Object.entries(section('mcpServers', sections.mcpServers) ?? {});
  return {
    workspace: section('workspace', sections.workspace) ?? String(given.workspace),
    mcpServers: mcpServers.map(([name, raw]) => readMcpServer(reading, name, raw)),
    skills: (section('skills', sections.skills) ?? []).map((raw, index) => readSkill(reading, index, raw)),
    roles: (section('roles', sections.roles) ?? []).map((raw, index) => readRole(reading, index, raw)),
  };
}

function readMcpServer(reading: Reading, name: string, raw: unknown): WantedMcpServer {
  const path = ['mcpServers', name];
  const given = readPart(reading, path, mcpServer, raw);
  return {
    name: keptName(reading, path, 'mcpServer', name),
    place: placeOf(reading, path),
    launch: given === null ? { command: '', args: [], cwd: null, env: [] } : resolveLaunch(reading, path, given),
    runtime: given?.runtime ?? null,
    enabled: given?.enabled ?? true,
  };
}

function readSkill(reading: Reading, index: number, raw: unknown): WantedSkill {
  const path = ['skills', index];
  const given = readPart(reading, path, skill, raw);
  const read =
    given === null
      ? { name: nameIn(raw), description: '', instructions: '', tools: [] }
      : resolveSkill(reading, path, given);
  return { ...read, place: placeOf(reading, path) };
}

function readRole(reading: Reading, index: number, raw: unknown): WantedRole {
  const path = ['roles', index];
  const given = readPart(reading, path, role, raw);
  const { name, description = '', enabled = true, skills = [] } = given ?? { name: nameIn(raw) };
  return { name, place: placeOf(reading, path), description, enabled, skills };
}

/** Null when it breaks its rules; the mistakes are then recorded. */
function readPart<Schema extends z.ZodType>(
  reading: Reading,
  path: Path,
  schema: Schema,
  raw: unknown,
): z.output<Schema> | null {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) complainOfIssue(reading, path, issue);
  return null;
}

/** The name of a mistaken object, so that references to it are not mistakes too. */
function nameIn(raw: unknown): string {
  return isObject(raw) && typeof raw.name === 'string' ? raw.name.trim() : '';
}

/** A name that is not a value of a field: the name of the field itself, or one from another file. */
function keptName(reading: Reading, path: Path, kind: NameKind, given: string): string {
  return checked(reading, path, given, () => parseName(kind, given));
}

function checked(reading: Reading, path: Path, given: string, parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    reading.mistakes.push({ ...reading.text.locateName(path), message: `${path.join('.')}: ${error.message}` });
    return given;
  }
}

function keptDescription(reading: Reading, path: Path, given: string): string {
  return checked(reading, path, given, () => parseDescription(given));
}

function placeOf({ file, text }: Reading, path: Path): Place {
  return { file, ...text.locateName(path) };
}

function resolveLaunch(reading: Reading, path: Path, given: McpServerInFile): Launch {
  const before = reading.mistakes.length;
  const launch = readLaunch(reading, path, given);
  const kept = checkLaunch(launch);
  // A contradiction or unreadable part was already reported in the words of the file.
  if (!kept.ok && reading.mistakes.length === before) {
    for (const problem of kept.problems)
      complain(reading, [...path, ...problem.path], `${path.join('.')}: ${problem.message}.`);
  }
  return launch;
}

function readLaunch(reading: Reading, path: Path, given: McpServerInFile): Launch {
  const { command, args, cwd, env, envFile, url, headers } = given;
  if (command === undefined && url === undefined) {
    complain(reading, path, `${path.join('.')} must have either command or url.`);
  }
  if (command !== undefined && url !== undefined) {
    complain(reading, path, `${path.join('.')} has both command and url: keep one of them.`);
  }
  const strangers = url === undefined ? { headers } : command === undefined ? { args, cwd, env, envFile } : {};
  for (const [name, value] of Object.entries(strangers)) {
    if (value === undefined) continue;
    complain(
      reading,
      [...path, name],
      `${name} belongs to ${url === undefined ? 'url' : 'command'}, which is not here.`,
    );
  }
  const secret = command === undefined ? null : findSecretWord([command, ...(args ?? [])]);
  if (secret !== null) {
    const field = secret.at === 0 ? ['command'] : ['args', secret.at - 1];
    complain(
      reading,
      [...path, ...field],
      `${[...path, ...field].join('.')} looks like a secret. Every user of the machine can see arguments. Pass it in env with { fromEnv: NAME }.`,
    );
  }
  if (url !== undefined) return { url, headers: resolveSettings(reading, [...path, 'headers'], headers ?? {}) };
  return {
    command: command ?? '',
    args: args ?? [],
    cwd: cwd === undefined ? null : resolve(dirname(reading.file), cwd),
    env: [...readEnvFile(reading, path, envFile, env ?? {}), ...resolveSettings(reading, [...path, 'env'], env ?? {})],
  };
}

function resolveSettings(reading: Reading, path: Path, given: Readonly<Record<string, Setting>>): NamedValue[] {
  return Object.entries(given).map(([name, setting]) => {
    if (typeof setting === 'string') return { name, value: setting };
    const value = reading.env[setting.fromEnv];
    if (value === undefined || value === '') {
      complain(
        reading,
        [...path, name],
        `${path.join('.')}.${name} comes from the environment variable ${setting.fromEnv}, which is not set.`,
      );
    }
    return { name, value: value ?? '' };
  });
}

/** A variable of the file itself wins over the env file. */
function readEnvFile(reading: Reading, path: Path, envFile: string | undefined, own: object): NamedValue[] {
  if (envFile === undefined) return [];
  const text = readNamed(reading, [...path, 'envFile'], envFile, envFileMaxBytes);
  return Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined || Object.hasOwn(own, name) ? [] : [{ name, value }],
  );
}

function resolveSkill(reading: Reading, path: Path, given: SkillInFile): Omit<WantedSkill, 'place'> {
  const { from, instructions } = given;
  if (from !== undefined && instructions !== undefined) {
    complain(
      reading,
      [...path, 'instructions'],
      'instructions come from the folder that "from" names: leave one of them out.',
    );
  }
  const folder = from === undefined ? null : readSkillFolder(reading, [...path, 'from'], from);
  if (given.name === undefined && from === undefined) complain(reading, path, `${path.join('.')} must have a name.`);
  const inFolder = [...path, 'from'];
  const own =
    instructions === undefined ? '' : readNamed(reading, [...path, 'instructions'], instructions, instructionsMaxBytes);
  return {
    name: given.name ?? (folder === null ? '' : keptName(reading, inFolder, 'skill', folder.name)),
    description: given.description ?? keptDescription(reading, inFolder, folder?.description ?? ''),
    instructions: folder?.instructions ?? own,
    tools: (given.tools ?? []).map((text) => {
      const slash = text.indexOf('/');
      return { mcpServer: text.slice(0, slash), tool: text.slice(slash + 1) };
    }),
  };
}

function readSkillFolder(reading: Reading, path: Path, from: string): SkillFolder | null {
  const before = reading.mistakes.length;
  const text = readNamed(reading, path, join(from, 'SKILL.md'), instructionsMaxBytes);
  if (reading.mistakes.length > before) return null;
  const folder = parseSkillFolder(text);
  if (folder === null)
    complain(reading, path, `${join(from, 'SKILL.md')} must begin with "---", a name and a description, and "---".`);
  return folder;
}

function readNamed(reading: Reading, path: Path, named: string, sizeMaxBytes: number): string {
  try {
    return textOf(readBeside({ by: reading.file, named, sizeMaxBytes }), resolve(dirname(reading.file), named));
  } catch (error) {
    complain(reading, path, error instanceof SvcError ? error.message : String(error));
    return '';
  }
}

function textOf(bytes: Buffer, file: string): string {
  if (bytes.includes(0)) throw new SvcError('invalid_input', `"${file}" is not a text file: it holds a zero byte.`);
  return bytes.toString('utf8');
}

function complainOfIssue(reading: Reading, above: Path, issue: z.core.$ZodIssue): void {
  const path = [...above, ...issue.path.filter((part) => typeof part !== 'symbol')];
  if (issue.code === 'unrecognized_keys') {
    for (const name of issue.keys) complainUnknown(reading, [...path, name]);
  } else if (issue.code === 'custom') {
    complain(reading, path, `${path.join('.')}: ${issue.message}`);
  } else {
    complain(reading, path, `${path.join('.')} must be ${issue.message}.`);
  }
}

function complainUnknown({ text, mistakes }: Reading, path: Path): void {
  const message = `"${path.join('.')}" is not a field. ${suggestion(String(path.at(-1)), knownFields(path.slice(0, -1)))}`;
  mistakes.push({ ...text.locateName(path), message });
}

function complain(reading: Reading, path: Path, message: string): void {
  reading.mistakes.push({ ...reading.text.locate(path), message });
}
