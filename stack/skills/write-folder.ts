import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseFilePath } from '../../services/contracts/file-path.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { writeWhole } from '../state/durable-file.ts';
import { installationAround } from '../state/installation.ts';
import type { FileHead } from './save-files.ts';
import { readSkillFolder, type SkillFolder, skillTextName } from './skill-folder.ts';
import { formatSkillText, type SkillText } from './skill-text.ts';

/** A skill to write. */
export interface WholeSkill extends SkillText {
  readonly files: readonly FileHead[];
}

/** Paths in the folder. */
export interface FolderChanges {
  readonly added: readonly string[];
  readonly replaced: readonly string[];
  readonly removed: readonly string[];
}

/** What writing the skill changes in the folder. Refuses a folder with files that is not the folder of a skill. */
export function planFolder(folder: string, { files, ...text }: WholeSkill): FolderChanges {
  const around = installationAround(resolve(folder));
  if (around !== null) {
    throw new SvcError('invalid_input', `"${folder}" is in the installation "${around}", whose files are not read.`, {
      hint: 'Name a folder elsewhere.',
    });
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new SvcError('conflict', `"${folder}" is no folder.`, { hint: 'Name a new folder.' });
  }
  for (const path of [skillTextName, ...files.map((file) => file.path)]) refuseEscape(folder, path);
  const present = findSkill(folder);
  if (present === null) return { added: [skillTextName, ...files.map(({ path }) => path)], replaced: [], removed: [] };
  const digests = new Map(present.files.map(({ path, digest }) => [path, digest]));
  const isSameText = present.source === formatSkillText(text);
  const wanted = new Set(files.map(({ path }) => path));
  return {
    added: files.flatMap(({ path }) => (digests.has(path) ? [] : [path])),
    replaced: [
      ...(isSameText ? [] : [skillTextName]),
      ...files.flatMap(({ path, digest }) => (digests.has(path) && digests.get(path) !== digest ? [path] : [])),
    ],
    removed: present.files.flatMap(({ path }) => (wanted.has(path) ? [] : [path])),
  };
}

/** Null for a folder that is new or empty. */
function findSkill(folder: string): SkillFolder | null {
  if (existsSync(join(folder, skillTextName))) return readSkillFolder(folder, '.');
  if (!existsSync(folder) || readdirSync(folder).length === 0) return null;
  throw new SvcError('conflict', `"${folder}" holds files, but no ${skillTextName}: it is not the folder of a skill.`, {
    hint: 'Name a new folder.',
  });
}

/** A path must not leave the folder, also not through a link in it. */
function refuseEscape(folder: string, path: string): void {
  if (path !== skillTextName) parseFilePath(path);
  const parts = path.split('/');
  for (const at of parts.keys()) {
    const part = join(folder, ...parts.slice(0, at + 1));
    const stat = lstatSync(part, { throwIfNoEntry: false });
    if (stat === undefined) return;
    const isLast = at === parts.length - 1;
    if (isLast ? stat.isFile() : stat.isDirectory()) continue;
    const kind = stat.isSymbolicLink() ? 'a link' : `no ${isLast ? 'file' : 'folder'}`;
    throw new SvcError('conflict', `"${part}" is ${kind}, so "${path}" of the skill cannot be written.`, {
      hint: 'Remove it, or name another folder.',
    });
  }
}

/** Writes the changed files, and reads the folder again: it must be the same skill. */
export async function writeFolder(
  folder: string,
  skill: WholeSkill,
  { changes, bytesOf }: { changes: FolderChanges; bytesOf: (path: string) => Promise<Uint8Array> },
): Promise<void> {
  const { files, ...text } = skill;
  try {
    for (const path of changes.removed) rmSync(join(folder, path));
    for (const path of [...changes.added, ...changes.replaced]) {
      const bytes = path === skillTextName ? formatSkillText(text) : await bytesOf(path);
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeWhole(join(folder, path), bytes, 0o644);
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('invalid_input', `"${folder}" cannot be written: ${inWords(error)}.`);
  }
  const { added, replaced, removed } = planFolder(folder, skill);
  const [different] = [...added, ...replaced, ...removed];
  if (different === undefined) return;
  throw new SvcError(
    'conflict',
    `"${join(folder, different)}" is not what was written. The skill has ${files.length} files.`,
    {
      hint: 'A file system that takes "A" and "a" for one name cannot hold such files beside each other.',
    },
  );
}
