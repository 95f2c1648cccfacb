import { dirname, resolve } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
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
