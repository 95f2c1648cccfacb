import { closeSync, fstatSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { makeRoom } from './log-file.ts';

export interface LogBound {
  readonly sizeMaxBytes: number;
  /** Older files that are kept, as `path.1` (the youngest), `path.2`, … */
  readonly filesKept: number;
}

/**
 * Cuts a log that another process appends to, so that it cannot be renamed: its content is copied to `path.1`, and the
 * file is truncated. A line written between copy and cut is lost; of a flood only the end is kept.
 */
export function boundLog(path: string, { sizeMaxBytes, filesKept }: LogBound): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= sizeMaxBytes) return;
  makeRoom(path, filesKept);
  copyEnd(path, Math.max(0, size - floodFactor * sizeMaxBytes));
  truncateSync(path, 0);
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
