import { dirname, resolve } from 'node:path';
import { nearest } from '../../services/contracts/did-you-mean.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../services/contracts/env/inherited.ts';
import { ignored, rejected, variables } from '../../services/contracts/env/variables.ts';
import { readSettings } from '../settings-file.ts';

/** Variables that name files and folders. */
const places: ReadonlySet<string> = new Set(['BUS_CA_PATH', 'RUNTIME_KEY_FILE', 'SYSTEM_KEY_FILE', 'SVC_WORKING_DIR']);

/** The variables in a file. What lies beside the file is named from there, wherever the command is typed. */
export async function readVariables(flag: string, file: string): Promise<EnvRecord> {
  const folder = dirname(resolve(file));
  const settings = await readSettings(flag, file, '=');
  return Object.fromEntries(
    settings.map(({ name, value }) => [name, places.has(name) && value !== '' ? resolve(folder, value) : value]),
  );
}

/** What the file sets and nobody reads, a line each: a name that was mistyped would else be missed without a word. */
export function unreadIn(given: EnvRecord): readonly string[] {
  return Object.keys(given)
    .filter((name) => !known.has(name) && Object.keys(inheritedByChildren({ [name]: 'x' })).length === 0)
    .map((name) => {
      const meant = nearest(name, known);
      return `${name} is not a variable of the runtime${meant === null ? '' : `: did you mean ${meant}?`}`;
    });
}

/** What is rejected or read no more is told by the runtime itself. */
const known: ReadonlySet<string> = new Set([
  ...Object.keys(variables.runtime),
  ...Object.keys(rejected.runtime ?? {}),
  ...Object.keys(ignored),
  'RUNTIME_KEY_FILE',
  'SYSTEM_KEY_FILE',
]);
