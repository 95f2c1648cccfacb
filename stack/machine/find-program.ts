import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export function findProgram(name: string, path: string | undefined): string | null {
  // A relative folder would be another one for each process.
  for (const folder of (path ?? '').split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Missing, or without permission.
    }
  }
  return null;
}
