import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { formatMode } from '../../stack/state/file-mode.ts';
import { shellWord } from '../shell-word.ts';

/** Refuses a file that could not be written, or would take the place of another unasked, before there is anything to lose. */
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

/** Where others may read what a key stands in, what to do about it; else null. Some file systems know no modes. */
export function exposure(file: string | number, stat: { isFile(): boolean; readonly mode: number }): string | null {
  const mode = stat.mode & 0o777;
  if (!stat.isFile() || (mode & 0o077) === 0) return null;
  const which = typeof file === 'string' ? `"${file}"` : 'The file that this was written to';
  const what = typeof file === 'string' ? shellWord(file) : 'FILE';
  return `${which} may be read by others (mode ${formatMode(mode)}): chmod 600 ${what}`;
}
