import { createHash } from 'node:crypto';
import { type Dirent, opendirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseFilePath } from '../../services/contracts/file-path.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { filesOfSkillMax, filesOfSkillMaxBytes } from '../../services/contracts/workspace-limits.ts';
import { readBeside, textOf } from './file-beside.ts';
import { parseSkillText, type SkillText, skillTextMaxBytes } from './skill-text.ts';

/** A folder of an Agent Skill: a SKILL.md, and files beside it. */
export interface SkillFolder extends SkillText {
  /** The text of its SKILL.md. */
  readonly source: string;
  /** By path. */
  readonly files: readonly FolderFile[];
  readonly leftOut: readonly LeftOut[];
}

export interface FolderFile {
  /** In the skill. */
  readonly path: string;
  /** sha256 of its bytes. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** Reads it again: all files of a skill together may be large. */
  readonly read: () => Uint8Array;
}

/** A file, a link or a field that a skill does not take. */
export interface LeftOut {
  readonly place: string;
  readonly why: string;
}

export const skillTextName = 'SKILL.md';

/** Reads the folder `name`, which lies in the folder `base`. Files outside of `base` are refused. */
export function readSkillFolder(base: string, name: string): SkillFolder {
  const file = join(name, skillTextName);
  const bytes = readBeside(base, file, skillTextMaxBytes);
  const source = textOf(bytes, resolve(base, file));
  const { unused, ...text } = parseSkillText(source, file);
  const { paths, leftOut } = listFolder(base, name);
  return {
    ...text,
    source,
    files: readFiles(base, name, paths),
    leftOut: [
      ...unused.map((field) => ({ place: `${file}: ${field}`, why: 'the platform does not use it' })),
      ...leftOut,
    ],
  };
}

function readFiles(base: string, name: string, paths: readonly string[]): readonly FolderFile[] {
  let totalBytes = 0;
  return paths.map((given) => {
    const read = () => readBeside(base, join(name, given), filesOfSkillMaxBytes);
    const bytes = read();
    totalBytes += bytes.byteLength;
    if (totalBytes > filesOfSkillMaxBytes) {
      const mib = filesOfSkillMaxBytes / 1024 / 1024;
      throw new SvcError('too_large', `The files in "${name}" are larger than ${mib} MiB, the limit of a skill.`);
    }
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { path: parseFilePath(given), digest, sizeBytes: bytes.byteLength, read };
  });
}

/** Entries that are looked at: many times the files that a skill may have. */
const entriesMax = 20_000;

interface Listed {
  /** As they are on the disk, which may have another Unicode composition than the paths in the skill. */
  readonly paths: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Links are not followed, so no folder is entered twice and none outside. */
function listFolder(base: string, name: string): Listed {
  const paths: string[] = [];
  const leftOut: LeftOut[] = [];
  let entries = 0;
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(resolve(base, name, folder))) {
      if (++entries > entriesMax) throw tooMany(name);
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (path === skillTextName) continue;
      const why = whyLeftOut(entry);
      if (why !== null) leftOut.push({ place: join(name, path), why });
      else if (entry.isDirectory()) folders.push(checked(path));
      else paths.push(checked(path));
      if (paths.length > filesOfSkillMax) throw tooMany(name);
    }
  }
  return { paths: paths.sort(), leftOut: leftOut.sort((one, other) => (one.place < other.place ? -1 : 1)) };
}

function whyLeftOut(entry: Dirent): string | null {
  if (entry.name.startsWith('.')) return 'it is hidden';
  if (entry.isSymbolicLink()) return 'it is a link';
  return entry.isFile() || entry.isDirectory() ? null : 'it is no regular file';
}

function checked(path: string): string {
  parseFilePath(path);
  return path;
}

function tooMany(name: string): SvcError {
  return new SvcError('too_large', `"${name}" holds more than ${filesOfSkillMax} files, the limit of a skill.`);
}

function* entriesOf(path: string): Generator<Dirent> {
  const folder = opened(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry;
  } finally {
    folder.closeSync();
  }
}

function opened(path: string) {
  try {
    return opendirSync(path);
  } catch (error) {
    throw new SvcError('invalid_input', `"${path}" cannot be read: ${inWords(error)}.`);
  }
}
