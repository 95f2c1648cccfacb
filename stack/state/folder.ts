import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder and those above it that are missing; returns whether it had to. One at a time: where the system answers "no such
 * folder" although the one above is there, as in /proc, Node's own `recursive` tries for ever.
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Another process made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}
