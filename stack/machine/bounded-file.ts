import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';

export interface BoundedRead {
  /** A longer file is refused. No more than one byte beyond the limit is read. */
  readonly sizeMaxBytes: number;
  /** What messages call the file. Default: its path. */
  readonly name?: string;
  /** Also reads a pipe, which a shell makes of <(command). Else only a regular file is read. */
  readonly takesPipes?: boolean;
}

/** Reads a file that may be anything: a FIFO without a writer holds nothing back, and a device without an end has one here. */
export function readBounded(file: string, options: BoundedRead): Buffer {
  const { sizeMaxBytes, name = `"${file}"`, takesPipes = false } = options;
  try {
    // A device may act as soon as it is opened, so the kind is looked at before, and again on what was opened.
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
    throw new SvcError('invalid_input', `${name} cannot be read: ${inWords(error)}.`);
  }
}

function requireRegular(stat: Stats, name: string): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new SvcError('invalid_input', `${name} cannot be read: it is a folder.`);
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
