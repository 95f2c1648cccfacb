import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** The size of a file, or of all files in a folder, on disk: without the holes of sparse files. */
export function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return bytesOf(stats);
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false }));
  return sizes.reduce((sum, one) => sum + (one === undefined ? 0 : bytesOf(one)), 0);
}

function bytesOf({ size, blocks }: Stats): number {
  return Math.min(size, blocks * 512);
}
