import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Definition } from '../settings/definition.ts';

/** The limits of a stored log. Older files are kept as `path.1` (the youngest), `path.2`, … */
export type LogLimits = Pick<Definition['logs'], 'fileSizeMaxMb' | 'filesKept'>;

/** Longest delay of a line, so that a call does not wait for the disk; a kill -9 loses no more than that. */
const delayMs = 25;
/** A burst is written at once above this size. */
const pendingMaxBytes = 64 * 1024;

/** A log of limited size that this process writes. */
export class LogFile {
  readonly #path: string;
  readonly #limits: LogLimits;
  #file: number | null = null;
  #sizeBytes = 0;
  #pending: string[] = [];
  #pendingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #lost = 0;

  constructor(path: string, limits: LogLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  write(line: string): void {
    this.#pending.push(line);
    this.#pendingBytes += line.length;
    if (this.#pendingBytes >= pendingMaxBytes) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), delayMs).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const lines = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (lines.length === 0) return;
    try {
      this.#append(lines.join(''));
    } catch {
      // A full disk must not stop the platform. The log reports the gap once there is space again.
      this.#lost += lines.length;
    }
  }

  close(): void {
    this.flush();
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #append(text: string): void {
    if (this.#file !== null && this.#sizeBytes > sizeMaxOf(this.#limits)) {
      closeSync(this.#file);
      this.#file = null;
      rotateLog(this.#path, this.#limits);
    }
    if (this.#file === null) {
      this.#file = openSync(this.#path, 'a', 0o600);
      this.#sizeBytes = fstatSync(this.#file).size;
    }
    const bytes = Buffer.from(this.#lost === 0 ? text : lostNote(this.#lost) + text);
    writeFileSync(this.#file, bytes);
    this.#sizeBytes += bytes.length;
    this.#lost = 0;
  }
}

function lostNote(lines: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), name: 'log', lines, msg: 'lost lines while the disk was not writable' })}\n`;
}

/** Renames a log that is too large to `path.1`. No process has it open. A log that cannot be renamed grows. */
export function rotateLog(path: string, limits: LogLimits): void {
  if (sizeOf(path) <= sizeMaxOf(limits)) return;
  try {
    shiftOlder(path, limits);
    renameSync(path, `${path}.1`);
  } catch {
    // The log is worth more than its limit.
  }
}

/**
 * Cuts a log that is too large. A process that appends to it must not notice, so the file is not renamed: its content is copied to
 * `path.1`, and the file is truncated. A line that another process writes between copy and cut is lost; of a flood only the end is kept.
 */
export function boundLog(path: string, limits: LogLimits): void {
  const [size, sizeMaxBytes] = [sizeOf(path), sizeMaxOf(limits)];
  if (size <= sizeMaxBytes) return;
  shiftOlder(path, limits);
  try {
    copyEnd(path, Math.max(0, size - floodFactor * sizeMaxBytes));
  } catch (error) {
    // An incomplete copy would take the last room of a full disk.
    rmSync(`${path}.1`, { force: true });
    throw error;
  }
  truncateSync(path, 0);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sizeMaxOf({ fileSizeMaxMb }: LogLimits): number {
  return fileSizeMaxMb * 1024 * 1024;
}

/** Renames the older files, so that `path.1` is free. */
function shiftOlder(path: string, { filesKept }: LogLimits): void {
  for (let age = filesKept; age > 1; age--) {
    const younger = `${path}.${age - 1}`;
    if (existsSync(younger)) renameSync(younger, `${path}.${age}`);
  }
}

const floodFactor = 2;
const chunkBytes = 1024 * 1024;

function copyEnd(path: string, from: number): void {
  const source = openSync(path, 'r');
  const copy = openSync(`${path}.1`, 'w', 0o600);
  try {
    const chunk = Buffer.alloc(chunkBytes);
    // Up to the end at the beginning of the copy, because a flood would never end.
    const end = fstatSync(source).size;
    for (let at = from; at < end; ) {
      const length = readSync(source, chunk, 0, Math.min(chunk.length, end - at), at);
      if (length === 0) break;
      writeSync(copy, chunk, 0, length);
      at += length;
    }
  } finally {
    closeSync(copy);
    closeSync(source);
  }
}
