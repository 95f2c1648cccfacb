import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkSecrets } from '../../secrets/ensure-folders.ts';
import { recordedFingerprint } from '../../secrets/secrets.ts';
import { formatMode } from '../../state/file-access.ts';
import { type Examined, type Found, failed, ok, type Planned } from './finding.ts';

/** Permissions that others on this machine must not have. */
const othersMask = 0o077;

export async function checkModes({ installation }: Examined): Promise<readonly Found[]> {
  const { secretsDir, dataDir, stateDir, logsDir } = installation;
  const folders = [secretsDir, dataDir, stateDir, logsDir];
  const files = entriesOf(secretsDir).map((name) => join(secretsDir, name));
  const open = [...folders, ...files].flatMap((path) => {
    const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return (mode & othersMask) === 0 ? [] : [`${basename(path)} has mode ${formatMode(mode)}`];
  });
  if (open.length === 0) return [ok('Only you can read secrets, data, state and logs.')];
  return [failed(`Others on this machine can read the platform: ${open.join(', ')}.`, 'Repair the modes: svc up')];
}

/** Its key and its data belong together, and each secret has its form. */
export async function checkSecretsOf({ installation, plan }: Planned): Promise<readonly Found[]> {
  checkSecrets(installation, plan.definition);
  const fingerprint = recordedFingerprint(installation);
  return [
    ok(
      fingerprint === undefined
        ? 'All secrets have their form. There is no data yet.'
        : `All secrets have their form, and the key matches the data (fingerprint ${fingerprint}).`,
    ),
  ];
}

function entriesOf(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
