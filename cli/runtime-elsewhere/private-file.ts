import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { formatMode } from '../../stack/state/file-access.ts';

/** Refuses a file that cannot be written or exists already, before the key is created. */
export function checkPrivateFile(flag: string, file: string, mayReplace: boolean): void {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new SvcError('invalid_input', `${flag} "${file}" is a folder: name a file in it.`);
  if (there !== undefined && !mayReplace) {
    throw new SvcError('conflict', `${flag} "${file}" exists already, and nothing was registered.`, {
      hint: 'Name another file, or add --overwrite to put the new key in its place.',
    });
  }
  try {
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
  } catch {
    throw new SvcError('invalid_input', `${flag} "${file}" cannot be written: its folder is not there, or not yours.`);
  }
}

/** A warning when other users can read the file with a key, or null. Some file systems have no modes. */
export function exposure(file: string | number, stat: { isFile(): boolean; readonly mode: number }): string | null {
  const mode = stat.mode & 0o777;
  if (!stat.isFile() || (mode & 0o077) === 0) return null;
  const which = typeof file === 'string' ? `"${file}"` : 'The file that this was written to';
  const what = typeof file === 'string' ? shellWord(file) : 'FILE';
  return `${which} may be read by others (mode ${formatMode(mode)}): chmod 600 ${what}`;
}
