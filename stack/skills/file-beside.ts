import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { readBounded, unreadable } from '../machine/bounded-file.ts';
import { installationAround } from '../state/installation.ts';

/**
 * Reads a file that another file in this folder names. Members and agents read its text later, and somebody else may
 * have chosen the name: so the file must be in the folder or below it, also at the end of links, and outside of every
 * installation.
 */
export function readBeside(givenFolder: string, name: string, sizeMaxBytes: number): Buffer {
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
  return readBounded(real, { sizeMaxBytes, name: `"${path}"` });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function textOf(bytes: Buffer, file: string): string {
  if (bytes.includes(0)) throw new SvcError('invalid_input', `"${file}" is not a text file: it holds a zero byte.`);
  return bytes.toString('utf8');
}
