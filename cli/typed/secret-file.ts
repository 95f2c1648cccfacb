import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { installationAround, installationIn } from '../../stack/state/installation.ts';

/** Refuses a file that is a secret of an installation, also through a link. Members and agents could read it. */
export function refuseSecret(file: string): void {
  const real = findReal(file);
  const dir = real === null ? null : installationAround(real);
  if (real === null || dir === null) return;
  if (!join(real, sep).startsWith(join(installationIn(dir).secretsDir, sep))) return;
  throw new SvcError(
    'invalid_input',
    `"${file}" is a secret of the installation "${dir}": a skill must not carry it.`,
    {
      hint: 'Name another file. Members and agents can read the files of a skill.',
    },
  );
}

/** Null for a pipe, which has no path, and for a missing file, which cannot be read either. */
function findReal(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}
