import { dirname, resolve } from 'node:path';
import { nearest } from '../../services/contracts/did-you-mean.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../services/contracts/env/inherited.ts';
import { ignored, rejected, variables } from '../../services/contracts/env/variables.ts';
import { readSettings } from '../typed/settings-file.ts';

/** Variables that name files and folders. */
const places: ReadonlySet<string> = new Set(['BUS_CA_PATH', 'RUNTIME_KEY_FILE', 'SYSTEM_KEY_FILE', 'SVC_WORKING_DIR']);

/** Reads variables from a file. Relative paths in it are relative to the file's folder. */
export async function readVariables(flag: string, file: string): Promise<EnvRecord> {
  const folder = dirname(resolve(file));
  const settings = await readSettings(flag, file, '=');
  return Object.fromEntries(
    settings.map(({ name, value }) => [name, places.has(name) && value !== '' ? resolve(folder, value) : value]),
  );
}

/** One warning for each variable that no service reads, so that a mistyped name is noticed. */
export function unreadIn(given: EnvRecord): readonly string[] {
  return Object.keys(given)
    .filter((name) => !known.has(name) && Object.keys(inheritedByChildren({ [name]: 'x' })).length === 0)
    .map((name) => {
      const meant = nearest(name, known);
      return `${name} is not a variable of the runtime${meant === null ? '' : `: did you mean ${meant}?`}`;
    });
}

/** The runtime itself reports variables that it rejects. */
const known: ReadonlySet<string> = new Set([
  ...Object.keys(variables.runtime),
  ...Object.keys(rejected.runtime ?? {}),
  ...Object.keys(ignored),
  'RUNTIME_KEY_FILE',
  'SYSTEM_KEY_FILE',
]);
