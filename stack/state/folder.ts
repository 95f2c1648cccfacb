import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the folder and its missing parents; returns whether it had to. One at a time: Node's `recursive` loops for
 * ever where the system refuses a folder with "no such folder", as in /proc.
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Another process created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}
