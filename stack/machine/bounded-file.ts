import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';

export interface BoundedRead {
  /** A longer file is refused. At most one byte beyond the limit is read. */
  readonly sizeMaxBytes: number;
  readonly name?: string;
  /** Also reads a pipe, as a shell makes for <(command). Otherwise only a regular file is read. */
  readonly takesPipes?: boolean;
}

/** Reads a file of any kind safely: a FIFO without a writer does not block, and an endless device is limited. */
export function readBounded(file: string, options: BoundedRead): Buffer {
  const { sizeMaxBytes, name = `"${file}"`, takesPipes = false } = options;
  try {
    // Opening a device may have effects, so the kind is checked before, and again on the opened file.
    if (!takesPipes) requireRegular(statSync(file), name);
    const fd = openSync(file, constants.O_RDONLY | (takesPipes ? 0 : constants.O_NONBLOCK));
    try {
      if (!takesPipes) requireRegular(fstatSync(fd), name);
      return readUpTo(fd, { sizeMaxBytes, name });
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw unreadable(file, error, name);
  }
}

/** The refusal of a file that a person named: which one, why, and the repair. */
export function unreadable(file: string, error: unknown, name = `"${file}"`): SvcError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const hint = repairs[code]?.(file);
  return new SvcError(
    'invalid_input',
    `${name} cannot be read: ${inWords(error)}.`,
    hint === undefined ? {} : { hint },
  );
}

const correct = (file: string) => `Correct the path. It leads to "${resolve(file)}".`;
const allow = () => 'Run the command as a user who may read it.';
const repairs: Readonly<Record<string, (file: string) => string>> = {
  ...{ ENOENT: correct, ENOTDIR: correct, ENAMETOOLONG: () => 'Correct the path.' },
  ...{ EACCES: allow, EPERM: allow },
};

/** The first bytes of a regular file, or an empty text. No pipe is waited for. `flags`: further flags of the opening. */
export function beginningOf(file: string, sizeMaxBytes: number, flags = 0): string {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    try {
      const bytes = Buffer.alloc(sizeMaxBytes);
      return fstatSync(fd).isFile() ? bytes.toString('utf8', 0, readSync(fd, bytes, 0, sizeMaxBytes, 0)) : '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

function requireRegular(stat: Stats, name: string): void {
  if (stat.isFile()) return;
  if (stat.isDirectory())
    throw new SvcError('invalid_input', `${name} cannot be read: it is a folder.`, { hint: 'Name a file in it.' });
  const kind = stat.isFIFO() ? 'a pipe (FIFO)' : stat.isSocket() ? 'a socket' : 'a device';
  throw new SvcError('unsupported', `${name} is ${kind}: it must be a regular file.`);
}

const chunkBytes = 64 * 1024;

function readUpTo(fd: number, { sizeMaxBytes, name }: { sizeMaxBytes: number; name: string }): Buffer {
  const tooLong = new SvcError('too_large', `${name} is longer than ${sizeMaxBytes} bytes.`);
  if (fstatSync(fd).size > sizeMaxBytes) throw tooLong;
  const chunks: Buffer[] = [];
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, sizeMaxBytes - total + 1));
    const length = readSync(fd, chunk);
    if (length === 0) return Buffer.concat(chunks);
    total += length;
    if (total > sizeMaxBytes) throw tooLong;
    chunks.push(chunk.subarray(0, length));
  }
}
