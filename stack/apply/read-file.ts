import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseName } from '../../services/contracts/names.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { readBounded } from '../machine/bounded-file.ts';
import { type Path, YamlText } from '../settings/yaml-text.ts';
import { installationAround } from '../state/installation.ts';
import { applyFileSchema } from './file-schema.ts';
import type { PlacedMistake, WantedWorkspace } from './wanted-workspace.ts';

/** A larger file takes many seconds and gigabytes to parse. */
export const applyFileMaxBytes = 16 * 1024 * 1024;

export interface ReadFile {
  readonly wanted: WantedWorkspace;
  readonly mistakes: readonly PlacedMistake[];
}

/** Looks beside the file for files that it names. `text` is content from another source, such as standard input. */
export function readApplyFile(file: string, env: EnvRecord, text = readText(file)): ReadFile {
  const yaml = new YamlText(text);
  const folder = dirname(file);
  const schema = applyFileSchema({ folder, env, read: (name, sizeMaxBytes) => readBeside(folder, name, sizeMaxBytes) });
  const parsed = schema.safeParse(yaml.value ?? {});
  if (!parsed.success) yaml.addIssues([], parsed.error.issues);
  if (!parsed.success || yaml.mistakes.length > 0) {
    const mistakes = yaml.mistakes.map((mistake) => ({ file, ...mistake }));
    return { wanted: { workspace: '', sections: new Set(), mcpServers: [], skills: [], roles: [] }, mistakes };
  }
  const placeOf = (...path: Path) => ({ file, ...yaml.locateName(path) });
  const { workspace, ...lists } = parsed.data;
  const { mcpServers = {}, skills = [], roles = [] } = lists;
  const wanted = {
    workspace,
    sections: new Set((['mcpServers', 'skills', 'roles'] as const).filter((section) => lists[section] !== undefined)),
    mcpServers: Object.entries(mcpServers).map(([written, one]) => ({
      ...{ ...one, name: parseName('mcpServer', written), place: placeOf('mcpServers', written) },
    })),
    skills: skills.map((one, index) => ({ ...one, place: placeOf('skills', index) })),
    roles: roles.map((one, index) => ({ ...one, place: placeOf('roles', index) })),
  };
  return { wanted, mistakes: [] };
}

function readText(file: string): string {
  try {
    return textOf(readBounded(file, { sizeMaxBytes: applyFileMaxBytes }), file);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'unsupported') throw error;
    throw new SvcError('invalid_input', error.message, { hint: 'Pipe it to standard input: … | svc apply -' });
  }
}

/**
 * Reads a file that an apply file in this folder names. Members and agents read its text later, and the author of the
 * apply file chose the name: so the file must be in the folder or below it, also at the end of links, and outside of
 * every installation.
 */
function readBeside(givenFolder: string, name: string, sizeMaxBytes: number): string {
  const path = resolve(givenFolder, name);
  const [folder, real] = [realOf(givenFolder), realOf(path)];
  const where = real === path ? `"${path}"` : `"${path}" leads to "${real}", which`;
  const way = relative(folder, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new SvcError(
      'invalid_input',
      `${where} is outside of "${folder}". A file must be beside or below the file that names it: copy it there.`,
    );
  }
  const installation = installationAround(real);
  if (installation !== null) {
    throw new SvcError(
      'invalid_input',
      `${where} is in the installation "${installation}". Files of an installation are not read: move it, and the file that names it, to another folder.`,
    );
  }
  return textOf(readBounded(real, { sizeMaxBytes, name: `"${path}"` }), path);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new SvcError('invalid_input', `"${path}" cannot be read: ${inWords(error)}.`);
  }
}

function textOf(bytes: Buffer, file: string): string {
  if (bytes.includes(0)) throw new SvcError('invalid_input', `"${file}" is not a text file: it holds a zero byte.`);
  return bytes.toString('utf8');
}
