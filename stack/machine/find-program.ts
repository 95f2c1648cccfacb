import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where a program lies on the path, or null where it does not. */
export function findProgram(name: string, path: string | undefined): string | null {
  // A relative folder would mean another one for each process.
  for (const folder of (path ?? '').split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not there, or not for us.
    }
  }
  return null;
}
