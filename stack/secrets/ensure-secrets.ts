import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeIfAbsent } from '../state/durable-file.ts';
import { closeMode, ensurePrivateFolder, gitignore } from '../state/folder.ts';
import type { CreationStep, Installation } from '../state/installation.ts';
import { checkSecrets, ownRows } from './check-secrets.ts';
import type { SecretRow, SecretsFor } from './secret-rows.ts';
import { hasSecret, nameOfSecret, readSecret } from './secrets.ts';

/** Generates missing secrets, overwrites none, removes permissions of others, and refuses as `checkSecrets` does. */
export function ensureSecrets(installation: Installation, settings: SecretsFor): readonly CreationStep[] {
  checkSecrets(installation, settings);
  const folder = ensurePrivateFolder(installation.secretsDir);
  const steps = ownRows(settings).map((row) => ensureFile(installation, row));
  const seen = new Set(steps.map(({ path }) => path));
  const others = filesIn(installation).filter((file) => !seen.has(nameOfSecret(file)));
  return [folder, ...steps, ...others.map(closeFile)];
}

/** Those that `ensureSecrets` would generate. */
export function missingSecrets({ secretsDir }: Installation, settings: SecretsFor): ReadonlySet<string> {
  const files = ownRows(settings).map(({ file }) => join(secretsDir, file));
  return new Set(files.filter((file) => !hasSecret(file)));
}

function ensureFile({ secretsDir }: Installation, { file: name, generate }: SecretRow): CreationStep {
  const file = join(secretsDir, name);
  if (generate === undefined || hasSecret(file)) return closeFile(file);
  const secret = generate((other) => readSecret(join(secretsDir, other)));
  const isMade = writeIfAbsent(file, `${secret.trim()}\n`);
  return isMade ? { path: nameOfSecret(file), outcome: 'created' } : closeFile(file);
}

function closeFile(file: string): CreationStep {
  return { path: nameOfSecret(file), outcome: 'kept', ...closeMode(file, 0o600) };
}

function filesIn({ secretsDir }: Installation): readonly string[] {
  return readdirSync(secretsDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.draft') && entry.name !== gitignore)
    .map((entry) => join(secretsDir, entry.name));
}
