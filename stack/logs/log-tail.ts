import { open, stat } from 'node:fs/promises';

/** A log is read backwards at most this far: people ask for the last lines, and files are rotated long before. */
const readMaxBytes = 16 * 1024 * 1024;

/** The end of one log and the lines appended to it from then on, in whole lines. */
export class LogTail {
  readonly #file: string;
  #inode = 0;
  /** The beginning of the first unread line. */
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** The existing lines, including the previous rotated file. */
  async before(): Promise<readonly string[]> {
    const found = await stat(this.#file).catch(() => null);
    if (found === null) return [];
    this.#inode = found.ino;
    const older = await readLines(this.#rotated, 'end');
    const { lines, end } = await readLines(this.#file, 'end');
    this.#offset = end;
    return [...older.lines, ...lines];
  }

  /** The lines appended since. */
  async next(): Promise<readonly string[]> {
    const found = await stat(this.#file).catch(() => null);
    if (found === null) return [];
    const missed: string[] = [];
    if (found.ino !== this.#inode || found.size < this.#offset) {
      // Rotated: the rest of the old file is in the renamed one.
      if (this.#inode !== 0) missed.push(...(await readLines(this.#rotated, this.#offset)).lines);
      this.#inode = found.ino;
      this.#offset = 0;
    }
    if (found.size === this.#offset) return missed;
    const { lines, end } = await readLines(this.#file, this.#offset);
    this.#offset = end;
    return [...missed, ...lines];
  }

  get #rotated(): string {
    return `${this.#file}.1`;
  }
}

interface Read {
  readonly lines: readonly string[];
  /** The beginning of the next line. */
  readonly end: number;
}

/** From a position to the end of the file, or the end of the file that fits one read. An unfinished line waits. */
async function readLines(file: string, from: number | 'end'): Promise<Read> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return { lines: [], end: 0 };
  try {
    const { size } = await handle.stat();
    const start = from === 'end' ? Math.max(0, size - readMaxBytes) : from;
    const length = Math.min(Math.max(0, size - start), readMaxBytes);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, start);
    const written = buffer.subarray(0, bytesRead);
    // A line longer than one read is not waited for.
    const whole = written.lastIndexOf('\n') + 1 || (bytesRead === readMaxBytes ? bytesRead : 0);
    const lines = written.toString('utf8', 0, whole).split('\n');
    const isCut = from === 'end' && start > 0;
    return { lines: lines.slice(isCut ? 1 : 0).filter((line) => line !== ''), end: start + whole };
  } finally {
    await handle.close();
  }
}
