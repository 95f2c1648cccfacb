import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isCode } from '../machine/is-code.ts';
import { writeIfAbsent } from './durable-file.ts';
import { formatMode } from './file-access.ts';
import type { CreationStep } from './installation.ts';

/**
 * Creates the folder and its missing parents; returns whether it had to. One at a time: Node's `recursive` loops for
 * ever where the system refuses a folder with "no such folder", as in /proc.
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Another process created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

/** Closed to others, and ignored by git before it contains anything: a project's own .gitignore is not ours to change. */
export function ensurePrivateFolder(dir: string): CreationStep {
  const path = `${basename(dir)}/`;
  const created = makeFolder(dir, 0o700);
  const closed = closeMode(dir, 0o700);
  const ignored = writeIfAbsent(join(dir, gitignore), '*\n');
  if (created) return { path, outcome: 'created' };
  if (closed !== undefined) return { path, ...closed };
  return ignored
    ? { path, outcome: 'repaired', detail: 'git did not ignore it; it does now' }
    : { path, outcome: 'kept' };
}

/** Closes each entry of a folder to others, except one of a container's user. Deeper ones are then unreachable. */
export function closeEntries(dir: string): readonly CreationStep[] {
  return readdirSync(dir).flatMap((name) => {
    const file = join(dir, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || !(stat.isFile() || stat.isDirectory()) || stat.uid !== process.getuid?.()) return [];
    if ((stat.mode & 0o077) === 0) return [];
    try {
      return [{ path: `${basename(dir)}/${name}`, outcome: 'kept' as const, ...closeMode(file, stat.mode & 0o700) }];
    } catch (error) {
      // A running platform removed it meanwhile.
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  });
}

export const gitignore = '.gitignore';

/** The repair; undefined when the mode was right. */
export function closeMode(path: string, wanted: number): Pick<CreationStep, 'outcome' | 'detail'> | undefined {
  const mode = statSync(path).mode & 0o777;
  if (mode === wanted) return undefined;
  chmodSync(path, wanted);
  return { outcome: 'repaired', detail: `changed its mode from ${formatMode(mode)} to ${formatMode(wanted)}` };
}
