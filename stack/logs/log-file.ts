import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface LogFileOptions {
  readonly path: string;
  readonly sizeMaxBytes: number;
  /** Older files that are kept, as `path.1` (the youngest), `path.2`, … */
  readonly filesKept: number;
}

/** Longest delay of a line, so that a call does not wait for the disk; a kill -9 loses no more than that. */
const delayMs = 25;
/** A burst is written at once above this size. */
const pendingMaxBytes = 64 * 1024;

/** A log of limited size: a full file is renamed, and the oldest is removed. */
export class LogFile {
  readonly #options: LogFileOptions;
  #file: number | null = null;
  #sizeBytes = 0;
  #pending: string[] = [];
  #pendingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #lost = 0;

  constructor(options: LogFileOptions) {
    this.#options = options;
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
    if (this.#file !== null && this.#sizeBytes >= this.#options.sizeMaxBytes) this.#rotate();
    this.#file ??= this.#open();
    const note = this.#lost === 0 ? '' : lostNote(this.#lost);
    const bytes = Buffer.from(note + text);
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#file, bytes, written);
    this.#sizeBytes += bytes.length;
    this.#lost = 0;
  }

  #open(): number {
    const file = openSync(this.#options.path, 'a', 0o600);
    this.#sizeBytes = fstatSync(file).size;
    return file;
  }

  #rotate(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    rotate(this.#options.path, this.#options.filesKept);
  }
}

/** `x.log` becomes `x.log.1`, which becomes `x.log.2`, …; the last is overwritten. */
export function rotate(path: string, filesKept: number): void {
  makeRoom(path, filesKept);
  renameIfThere(path, `${path}.1`);
}

/** Renames the older files, so that `x.log.1` is free. */
export function makeRoom(path: string, filesKept: number): void {
  for (let age = filesKept; age > 1; age--) renameIfThere(`${path}.${age - 1}`, `${path}.${age}`);
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // There are not that many yet.
  }
}

function lostNote(lines: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), name: 'log', lines, msg: 'lost lines while the disk was not writable' })}\n`;
}
