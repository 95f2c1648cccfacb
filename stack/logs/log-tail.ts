import { open, stat } from 'node:fs/promises';

/** A log is read backwards at most this far: people ask for the last lines, and logs are cut long before. */
const readMaxBytes = 16 * 1024 * 1024;

/** The end of one log and the lines appended to it from then on, in whole lines. */
export class LogTail {
  readonly #file: string;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** The existing lines, including the previous file. */
  async before(): Promise<readonly string[]> {
    const older = await readLines(`${this.#file}.1`, 0, readMaxBytes);
    const { lines, end } = await readLines(this.#file, 0, readMaxBytes);
    this.#offset = end;
    return [...older.lines, ...lines];
  }

  async next(): Promise<readonly string[]> {
    const found = await stat(this.#file).catch(() => null);
    if (found === null) return [];
    const missed: string[] = [];
    if (found.size < this.#offset) {
      // The log was cut: its unread lines are in the copy.
      missed.push(...(await readLines(`${this.#file}.1`, this.#offset)).lines);
      this.#offset = 0;
    }
    if (found.size === this.#offset) return missed;
    const { lines, end } = await readLines(this.#file, this.#offset);
    this.#offset = end;
    return [...missed, ...lines];
  }
}

/** From a position on, at most one read. An unfinished line waits: `end` is the beginning of the next line. */
export async function readLines(file: string, from: number, lastMaxBytes?: number) {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return { lines: [], end: 0 };
  try {
    const { size } = await handle.stat();
    const first = from > size ? 0 : from;
    const start = Math.max(first, lastMaxBytes === undefined ? 0 : size - lastMaxBytes);
    const length = Math.min(size - start, readMaxBytes);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, start);
    const written = buffer.subarray(0, bytesRead);
    // A line longer than one read is not waited for.
    const whole = written.lastIndexOf('\n') + 1 || (bytesRead === readMaxBytes ? bytesRead : 0);
    const lines = written.toString('utf8', 0, whole).split('\n');
    return { lines: lines.slice(start > first ? 1 : 0).filter((line) => line !== ''), end: start + whole };
  } finally {
    await handle.close();
  }
}
