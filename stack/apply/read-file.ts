import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { readBounded } from '../machine/bounded-file.ts';
import { MistakeList } from '../settings/mistakes.ts';
import { isMistakes, type Mistake, readYaml } from '../settings/yaml-text.ts';
import { applyFile } from './file-schema.ts';
import type { PlacedMistake } from './mistakes.ts';
import { textOf } from './read-beside.ts';
import { resolveFile } from './resolve-file.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

/** A larger file takes many seconds and gigabytes to parse. */
export const applyFileMaxBytes = 16 * 1024 * 1024;

/** One file with everything it refers to, and its mistakes: in its fields, or once these are right, in what they say. */
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
  const { path: file, text } = typeof given === 'string' ? { path: given, text: readGiven(given) } : given;
  const nothing = { workspace: 'Default', mcpServers: [], skills: [], roles: [] };
  const placed = (wanted: WantedWorkspace, mistakes: readonly Mistake[]) => ({
    wanted,
    mistakes: mistakes.map((mistake) => ({ file, ...mistake })),
  });
  const yaml = readYaml(text);
  if (isMistakes(yaml)) return placed(nothing, yaml);
  const mistakes = new MistakeList(yaml);
  const parsed = applyFile.safeParse(yaml.value ?? {});
  if (!parsed.success) mistakes.addIssues([], parsed.error.issues);
  const wanted = parsed.success ? resolveFile({ file, yaml, env, mistakes }, parsed.data) : nothing;
  return placed(wanted, mistakes.all);
}

function readGiven(file: string): string {
  try {
    return textOf(readBounded(file, { sizeMaxBytes: applyFileMaxBytes }), file);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'unsupported') throw error;
    throw new SvcError('invalid_input', error.message, { hint: 'Pipe it to standard input: … | svc apply -' });
  }
}
