import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { checkLaunch } from '../../services/contracts/launch.ts';
import { parseDescription, parseName } from '../../services/contracts/names.ts';
import { findSecretWord } from '../../services/contracts/secret-words.ts';
import { instructionsMaxBytes } from '../../services/contracts/workspace-limits.ts';
import type { MistakeList } from '../settings/mistakes.ts';
import type { Path, YamlText } from '../settings/yaml-text.ts';
import type { FileContent, McpServerInFile, Setting, SkillInFile } from './file-schema.ts';
import { readBeside } from './read-beside.ts';
import { parseSkillFolder, type SkillFolder } from './skill-folder.ts';
import type { Launch, NamedValue, WantedSkill, WantedWorkspace } from './wanted-workspace.ts';

const envFileMaxBytes = 1024 * 1024;

export interface Resolving {
  readonly file: string;
  readonly yaml: YamlText;
  readonly env: EnvRecord;
  /** Those found meanwhile are added. */
  readonly mistakes: MistakeList;
}

/** The content of a file with everything that it refers to: variables, env files and files of skills. */
export function resolveFile(
  resolving: Resolving,
  { workspace, mcpServers, skills, roles }: FileContent,
): WantedWorkspace {
  const { file, yaml } = resolving;
  const placeOf = (path: Path) => ({ file, ...yaml.locateName(path) });
  return {
    workspace,
    mcpServers: Object.entries(mcpServers).map(([name, given]) => {
      const path = ['mcpServers', name];
      return {
        name: checked(resolving, path, name, (text) => parseName('mcpServer', text)),
        place: placeOf(path),
        launch: resolveLaunch(resolving, path, given),
        runtime: given.runtime ?? null,
        enabled: given.enabled,
      };
    }),
    skills: skills.map((given, index) => {
      const path = ['skills', index];
      return { ...resolveSkill(resolving, path, given), place: placeOf(path) };
    }),
    roles: roles.map((role, index) => ({ ...role, place: placeOf(['roles', index]) })),
  };
}

/** A text that is not the value of a field, by its rule: the name of a field, or a text from another file. */
function checked({ mistakes }: Resolving, path: Path, text: string, parse: (text: string) => string): string {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    mistakes.addToName(path, `${path.join('.')}: ${error.message}`);
    return text;
  }
}

function resolveLaunch(resolving: Resolving, path: Path, given: McpServerInFile): Launch {
  const { mistakes } = resolving;
  const before = mistakes.all.length;
  const launch = readLaunch(resolving, path, given);
  const kept = checkLaunch(launch);
  // A contradiction or unreadable part was already reported in the words of the file.
  if (!kept.ok && mistakes.all.length === before) {
    for (const problem of kept.problems) {
      mistakes.add([...path, ...problem.path], `${path.join('.')}: ${problem.message}.`);
    }
  }
  return launch;
}

function readLaunch(resolving: Resolving, path: Path, given: McpServerInFile): Launch {
  const { command, args = [], cwd, env = {}, envFile, url, headers = {} } = given;
  const { file, mistakes } = resolving;
  if (command === undefined && url === undefined) {
    mistakes.add(path, `${path.join('.')} must have either command or url.`);
  }
  if (command !== undefined && url !== undefined) {
    mistakes.add(path, `${path.join('.')} has both command and url: keep one of them.`);
  }
  const misplaced = url === undefined ? ['headers'] : command === undefined ? ['args', 'cwd', 'env', 'envFile'] : [];
  for (const name of misplaced.filter((field) => field in given)) {
    const owner = url === undefined ? 'url' : 'command';
    mistakes.add([...path, name], `${name} belongs to ${owner}, which is not here.`);
  }
  if (url !== undefined) return { url, headers: resolveSettings(resolving, [...path, 'headers'], headers) };
  const secret = findSecretWord([command ?? '', ...args]);
  if (secret !== null) {
    const place = [...path, ...(secret.at === 0 ? ['command'] : ['args', secret.at - 1])];
    mistakes.add(
      place,
      `${place.join('.')} looks like a secret. Every user of the machine can see arguments. Pass it in env with { fromEnv: NAME }.`,
    );
  }
  return {
    command: command ?? '',
    args,
    cwd: cwd === undefined ? null : resolve(dirname(file), cwd),
    env: [...readEnvFile(resolving, path, envFile, env), ...resolveSettings(resolving, [...path, 'env'], env)],
  };
}

function resolveSettings(
  { env, mistakes }: Resolving,
  path: Path,
  given: Readonly<Record<string, Setting>>,
): NamedValue[] {
  return Object.entries(given).map(([name, setting]) => {
    if (typeof setting === 'string') return { name, value: setting };
    const value = env[setting.fromEnv] ?? '';
    if (value === '') {
      const field = [...path, name];
      const source = `the environment variable ${setting.fromEnv}, which is not set`;
      mistakes.add(field, `${field.join('.')} comes from ${source}.`);
    }
    return { name, value };
  });
}

/** A variable of the file itself wins over the env file. */
function readEnvFile(resolving: Resolving, path: Path, envFile: string | undefined, own: object): NamedValue[] {
  if (envFile === undefined) return [];
  const text = readNamed(resolving, [...path, 'envFile'], envFile, envFileMaxBytes) ?? '';
  return Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined || Object.hasOwn(own, name) ? [] : [{ name, value }],
  );
}

function resolveSkill(resolving: Resolving, path: Path, given: SkillInFile): Omit<WantedSkill, 'place'> {
  const { from, instructions } = given;
  const { mistakes } = resolving;
  if (from !== undefined && instructions !== undefined) {
    const why = 'instructions come from the folder that "from" names: leave one of them out';
    mistakes.add([...path, 'instructions'], `${why}.`);
  }
  if (given.name === undefined && from === undefined) mistakes.add(path, `${path.join('.')} must have a name.`);
  const inFolder = [...path, 'from'];
  const folder = from === undefined ? null : readSkillFolder(resolving, inFolder, from);
  const own =
    instructions === undefined
      ? null
      : readNamed(resolving, [...path, 'instructions'], instructions, instructionsMaxBytes);
  const nameOfFolder = (name: string) => checked(resolving, inFolder, name, (text) => parseName('skill', text));
  return {
    name: given.name ?? (folder === null ? '' : nameOfFolder(folder.name)),
    description: given.description ?? checked(resolving, inFolder, folder?.description ?? '', parseDescription),
    instructions: folder?.instructions ?? own ?? '',
    tools: given.tools.map((text) => {
      const slash = text.indexOf('/');
      return { mcpServer: text.slice(0, slash), tool: text.slice(slash + 1) };
    }),
  };
}

function readSkillFolder(resolving: Resolving, path: Path, from: string): SkillFolder | null {
  const file = join(from, 'SKILL.md');
  const text = readNamed(resolving, path, file, instructionsMaxBytes);
  const folder = text === null ? null : parseSkillFolder(text);
  if (text !== null && folder === null) {
    resolving.mistakes.add(path, `${file} must begin with "---", a name and a description, and "---".`);
  }
  return folder;
}

/** The text of a file that the field at `path` names; null when it cannot be read, which is then a mistake. */
function readNamed({ file, mistakes }: Resolving, path: Path, named: string, sizeMaxBytes: number): string | null {
  try {
    return readBeside({ by: file, named, sizeMaxBytes });
  } catch (error) {
    mistakes.add(path, error instanceof SvcError ? error.message : String(error));
    return null;
  }
}
