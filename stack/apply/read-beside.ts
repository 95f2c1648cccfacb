import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { readBounded } from '../machine/bounded-file.ts';
import { installationAround } from '../state/installation.ts';

export interface NamedFile {
  /** The file that names the other one. */
  readonly by: string;
  /** As written there. */
  readonly named: string;
  readonly sizeMaxBytes: number;
}

/**
 * Reads a file that an apply file names. Members and agents read its text later, and the author of the apply file chose
 * the name: so the file must be beside or below the apply file, also at the end of links, and outside of every
 * installation.
 */
export function readBeside({ by, named, sizeMaxBytes }: NamedFile): string {
  const path = resolve(dirname(by), named);
  const folder = realOf(dirname(by));
  const real = realOf(path);
  const where = real === path ? `"${path}"` : `"${path}" leads to "${real}", which`;
  if (!isBelow(folder, real)) {
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

export function textOf(bytes: Buffer, file: string): string {
  if (bytes.includes(0)) throw new SvcError('invalid_input', `"${file}" is not a text file: it holds a zero byte.`);
  return bytes.toString('utf8');
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new SvcError('invalid_input', `"${path}" cannot be read: ${inWords(error)}.`);
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
