import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { describeMistakes, isMistakes, type Mistake, type Path, readYaml, type YamlText } from '../yaml-text.ts';
import {
  type ApplyFile,
  applyFile,
  knownFields,
  type McpServerInFile,
  type Setting,
  type SkillInFile,
} from './file-schema.ts';
import { parseSkillFolder, type SkillFolder } from './skill-folder.ts';
import type { Launch, NamedValue, Wanted, WantedMcpServer, WantedSkill } from './wanted.ts';

const fileMaxBytes = 16 * 1024 * 1024;
/** What the backend takes. */
const instructionsMaxBytes = 256 * 1024;

/** Reads one file and everything it points to. Throws one error with every mistake, its line and its column. */
export function readApplyFile(file: string, env: EnvRecord): Wanted {
  const text = readYaml(readBounded(file, fileMaxBytes));
  if (isMistakes(text)) throw mistaken(file, text);
  const parsed = applyFile.safeParse(text.value ?? {});
  if (!parsed.success)
    throw mistaken(
      file,
      parsed.error.issues.flatMap((issue) => mistakesOf(issue, text)),
    );
  const reading: Reading = { file, text, env, mistakes: [] };
  const wanted = resolveFile(reading, parsed.data);
  if (reading.mistakes.length > 0) throw mistaken(file, reading.mistakes);
  return wanted;
}

interface Reading {
  readonly file: string;
  readonly text: YamlText;
  readonly env: EnvRecord;
  readonly mistakes: Mistake[];
}

function resolveFile(reading: Reading, parsed: ApplyFile): Wanted {
  const place = (path: Path) => ({ file: reading.file, ...reading.text.locateName(path) });
  return {
    workspace: parsed.workspace,
    mcpServers: Object.entries(parsed.mcpServers).map(([name, given]): WantedMcpServer => {
      const path = ['mcpServers', name];
      return {
        name,
        place: place(path),
        launch: resolveLaunch(reading, path, given),
        runtime: given.runtime ?? null,
        enabled: given.enabled ?? true,
      };
    }),
    skills: parsed.skills.map((given, index): WantedSkill => {
      const path = ['skills', index];
      return { ...resolveSkill(reading, path, given), place: place(path) };
    }),
    roles: parsed.roles.map(({ name, description = '', enabled = true, skills = [] }, index) => ({
      name,
      place: place(['roles', index]),
      description,
      enabled,
      skills,
    })),
  };
}

function resolveLaunch(reading: Reading, path: Path, given: McpServerInFile): Launch {
  const { command, args, cwd, env, envFile, url, headers } = given;
  if ((command === undefined) === (url === undefined)) {
    complain(reading, path, `${path.join('.')} must have either command or url.`);
  }
  const strangers = url === undefined ? { headers } : { args, cwd, env, envFile };
  for (const [name, value] of Object.entries(strangers)) {
    if (value === undefined) continue;
    complain(
      reading,
      [...path, name],
      `${name} belongs to ${url === undefined ? 'url' : 'command'}, which is not here.`,
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

/** What stands in the file itself wins over the env file. */
function readEnvFile(reading: Reading, path: Path, envFile: string | undefined, own: object): NamedValue[] {
  if (envFile === undefined) return [];
  const text = readBeside(reading, [...path, 'envFile'], envFile, fileMaxBytes);
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
  const name = given.name ?? folder?.name;
  if (name === undefined && from === undefined) complain(reading, path, `${path.join('.')} must have a name.`);
  const own =
    instructions === undefined
      ? ''
      : readBeside(reading, [...path, 'instructions'], instructions, instructionsMaxBytes);
  return {
    name: name ?? '',
    description: given.description ?? folder?.description ?? '',
    instructions: folder?.instructions ?? own,
    tools: (given.tools ?? []).map((text) => {
      const slash = text.indexOf('/');
      return { mcpServer: text.slice(0, slash), tool: text.slice(slash + 1) };
    }),
  };
}

function readSkillFolder(reading: Reading, path: Path, from: string): SkillFolder | null {
  const before = reading.mistakes.length;
  const text = readBeside(reading, path, join(from, 'SKILL.md'), instructionsMaxBytes);
  if (reading.mistakes.length > before) return null;
  const folder = parseSkillFolder(text);
  if (folder === null)
    complain(reading, path, `${join(from, 'SKILL.md')} must begin with "---", a name and a description, and "---".`);
  return folder;
}

function readBeside(reading: Reading, path: Path, named: string, sizeMaxBytes: number): string {
  try {
    return readBounded(resolve(dirname(reading.file), named), sizeMaxBytes);
  } catch (error) {
    complain(reading, path, error instanceof SvcError ? error.message : String(error));
    return '';
  }
}

function readBounded(file: string, sizeMaxBytes: number): string {
  try {
    const { size } = statSync(file);
    if (size > sizeMaxBytes) throw new SvcError('too_large', `"${file}" is longer than ${sizeMaxBytes} bytes.`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new SvcError('invalid_input', `"${file}" cannot be read (${code}).`);
  }
}

function mistakesOf(issue: z.core.$ZodIssue, text: YamlText): readonly Mistake[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({
      ...text.locateName([...path, name]),
      message: `"${[...path, name].join('.')}" is not a field. ${suggestion(name, knownFields(path))}`,
    }));
  }
  return [{ ...text.locate(path), message: `${path.join('.') || 'The file'} must be ${issue.message}.` }];
}

function complain(reading: Reading, path: Path, message: string): void {
  reading.mistakes.push({ ...reading.text.locate(path), message });
}

function mistaken(file: string, mistakes: readonly Mistake[]): SvcError {
  return new SvcError('invalid_input', describeMistakes(file, mistakes));
}
