import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isCode, writeIfAbsent } from './durable-file.ts';
import { formatMode } from './file-mode.ts';
import { makeFolder } from './folder.ts';
import type { CreationStep } from './installation.ts';

/**
 * Closed to others, and to git before anything lies in it: a project's own .gitignore, which is not ours to change, need not know of
 * installations.
 */
export function ensurePrivateFolder(dir: string): CreationStep {
  const path = `${basename(dir)}/`;
  const created = makeFolder(dir, 0o700);
  const closed = closeMode(dir, 0o700);
  const ignored = writeIfAbsent(join(dir, gitignore), '*\n');
  if (created) return { path, outcome: 'created' };
  if (closed !== undefined) return { path, ...closed };
  return ignored
    ? { path, outcome: 'repaired', detail: 'git did not ignore it, now it does' }
    : { path, outcome: 'kept' };
}

/**
 * Closes each file and folder directly in a folder to others. What lies deeper cannot be reached then, and may be a program of an MCP
 * server. A container's user may own an entry, which is left as it is.
 */
export function closeEntries(dir: string): readonly CreationStep[] {
  return readdirSync(dir).flatMap((name) => {
    const file = join(dir, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || !(stat.isFile() || stat.isDirectory()) || stat.uid !== process.getuid?.()) return [];
    if ((stat.mode & 0o077) === 0) return [];
    try {
      return [{ path: `${basename(dir)}/${name}`, outcome: 'kept' as const, ...closeMode(file, stat.mode & 0o700) }];
    } catch (error) {
      // A platform that runs removed it meanwhile.
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  });
}

export const gitignore = '.gitignore';

/** What was repaired; undefined where the mode was right. */
export function closeMode(path: string, wanted: number): Pick<CreationStep, 'outcome' | 'detail'> | undefined {
  const mode = statSync(path).mode & 0o777;
  if (mode === wanted) return undefined;
  chmodSync(path, wanted);
  return { outcome: 'repaired', detail: `its mode was ${formatMode(mode)}, now it is ${formatMode(wanted)}` };
}
