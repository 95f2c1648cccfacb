import { dirname, resolve } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseName } from '../../services/contracts/names.ts';
import { readBounded } from '../machine/bounded-file.ts';
import { type Path, YamlText } from '../settings/yaml-text.ts';
import { readBeside, textOf } from '../skills/file-beside.ts';
import { type LeftOut, readSkillFolder } from '../skills/skill-folder.ts';
import { applyFileSchema } from './file-schema.ts';
import type { PlacedMistake, WantedWorkspace } from './wanted-workspace.ts';

/** A larger file takes many seconds and gigabytes to parse. */
export const applyFileMaxBytes = 16 * 1024 * 1024;

export interface ReadFile {
  readonly wanted: WantedWorkspace;
  readonly mistakes: readonly PlacedMistake[];
  /** What the folders of skills hold and the platform does not take. */
  readonly leftOut: readonly LeftOut[];
}

/** Looks beside the file for files that it names. `text` is content from another source, such as standard input. */
export function readApplyFile(file: string, env: EnvRecord, text = readText(file)): ReadFile {
  const yaml = new YamlText(text);
  const folder = dirname(file);
  const leftOut: LeftOut[] = [];
  const schema = applyFileSchema({
    folder,
    env,
    read: (name, sizeMaxBytes) => textOf(readBeside(folder, name, sizeMaxBytes), resolve(folder, name)),
    readSkill(name) {
      const found = readSkillFolder(folder, name);
      leftOut.push(...found.leftOut);
      return found;
    },
  });
  const parsed = schema.safeParse(yaml.value ?? {});
  if (!parsed.success) yaml.addIssues([], parsed.error.issues);
  if (!parsed.success || yaml.mistakes.length > 0) {
    const mistakes = yaml.mistakes.map((mistake) => ({ file, ...mistake }));
    return {
      wanted: { workspace: '', sections: new Set(), mcpServers: [], skills: [], roles: [] },
      mistakes,
      leftOut: [],
    };
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
  return { wanted, mistakes: [], leftOut };
}

function readText(file: string): string {
  try {
    return textOf(readBounded(file, { sizeMaxBytes: applyFileMaxBytes }), file);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'unsupported') throw error;
    throw new SvcError('invalid_input', error.message, { hint: 'Pipe it to standard input: … | svc apply -' });
  }
}
