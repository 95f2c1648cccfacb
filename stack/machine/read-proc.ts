import { readFileSync } from 'node:fs';

/** A file of proc(5), or null: its process has ended, or belongs to another user. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
