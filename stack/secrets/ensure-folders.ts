import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { removeLeftDrafts, writeIfAbsent } from '../state/durable-file.ts';
import { closeEntries, closeMode, ensurePrivateFolder, gitignore, makeFolder } from '../state/folder.ts';
import { type CreationStep, compileCacheOf, type Installation } from '../state/installation.ts';
import { type ManifestEntry, recordCreated } from '../state/manifest.ts';
import { type SecretRow, type SecretsFor, secretRows } from './secret-rows.ts';
import { fingerprintOf, hasSecret, nameOfSecret, readSecret, recordedFingerprint, secretFilesOf } from './secrets.ts';

/** The part of an installation that `svc up` also ensures: lost files are created again, or refused. */
export function ensureFolders(installation: Installation, definition: SecretsFor): readonly CreationStep[] {
  const { dataDir, stateDir, logsDir, secretsDir } = installation;
  const folders = [dataDir, stateDir, logsDir];
  const steps = [...folders.map(ensurePrivateFolder), ...ensureSecrets(installation, definition)];
  makeFolder(compileCacheOf(installation), 0o700);
  for (const dir of [dataDir, stateDir, secretsDir]) removeLeftDrafts(dir);
  // A person puts other secrets beside those that are generated.
  const own = new Set(ownRows(definition).map(({ file }) => nameOfSecret(file)));
  const made = steps.filter(({ path }) => path.endsWith('/') || own.has(path));
  recordCreated(installation, [fileEntry('svc.yaml'), ...made.flatMap(({ path }) => entriesFor(path))]);
  return [...steps, ...folders.flatMap(closeEntries)];
}

function entriesFor(path: string): readonly ManifestEntry[] {
  return path.endsWith('/')
    ? [{ kind: 'folder', path: path.slice(0, -1) }, fileEntry(`${path}.gitignore`)]
    : [fileEntry(path)];
}

function fileEntry(path: string): ManifestEntry {
  return { kind: 'file', path };
}

/** Generates missing secrets, overwrites none, removes permissions of others, and refuses as `checkSecrets` does. */
export function ensureSecrets(installation: Installation, settings: SecretsFor): readonly CreationStep[] {
  checkSecrets(installation, settings);
  const folder = ensurePrivateFolder(installation.secretsDir);
  const steps = ownRows(settings).map((row) => ensureFile(installation, row));
  const seen = new Set(steps.map(({ path }) => path));
  const others = filesIn(installation).filter((file) => !seen.has(nameOfSecret(file)));
  return [folder, ...steps, ...others.map(closeFile)];
}

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

/** Throws if a secret is damaged, does not match the data, or is missing and cannot be generated. */
export function checkSecrets(installation: Installation, settings: SecretsFor): void {
  for (const row of ownRows(settings)) refuseDamaged(installation, row);
  refuseOtherKey(installation);
  refuseMissing(installation, settings);
}

const allRows: readonly SecretRow[] = Object.values(secretRows);

/** Whether installations of some topology generate this file. */
export function isGeneratedSecret(path: string): boolean {
  return allRows.some(({ file, generate }) => generate !== undefined && nameOfSecret(file) === path);
}

/** The secrets that an installation with these settings generates. */
function ownRows(settings: SecretsFor): readonly SecretRow[] {
  return allRows.filter(({ generate, isOwn }) => generate !== undefined && (isOwn?.(settings) ?? true));
}

/** With another key the installation would look healthy, but could not decrypt its data. */
function refuseOtherKey(installation: Installation): void {
  const { encryptionKey: file } = secretFilesOf(installation);
  const known = recordedFingerprint(installation);
  const present = hasSecret(file) ? fingerprintOf(file) : null;
  if (known === undefined || present === known) return;
  if (present === null) {
    throw new SvcError(
      'forbidden',
      `secrets/encryption.key is missing, and data/ is encrypted with it (fingerprint ${known}).`,
      { hint: 'Restore the key from a backup. Without it the stored data cannot be read.' },
    );
  }
  throw new SvcError(
    'forbidden',
    `secrets/encryption.key (fingerprint ${present}) is not the key that data/ is encrypted with (fingerprint ${known}).`,
    { hint: 'Restore the right key, or the data of this key.' },
  );
}

function refuseDamaged({ secretsDir }: Installation, row: SecretRow): void {
  const { file, of, rule, isRight } = row;
  const read = (name: string) => (hasSecret(join(secretsDir, name)) ? readSecret(join(secretsDir, name)) : '');
  if (isRight === undefined || !hasSecret(join(secretsDir, file)) || isRight(read(file), read)) return;
  const isAlone = of !== undefined && !hasSecret(join(secretsDir, of));
  // Of two files that differ, either may be the wrong one.
  const repair = of === undefined || isAlone ? row.repair : undefined;
  throw new SvcError(isAlone ? 'forbidden' : 'invalid_input', `secrets/${file} must hold ${rule}.`, {
    hint: repair ?? 'Restore the right file from a backup.',
  });
}

/** Secrets that only the operator has. */
function refuseMissing({ secretsDir }: Installation, settings: SecretsFor): void {
  for (const { file, neededBy } of allRows) {
    const needed = neededBy?.(settings) ?? null;
    if (needed === null || hasSecret(join(secretsDir, file))) continue;
    const { setting, repair: hint } = needed;
    throw new SvcError('not_found', `secrets/${file} is missing, and ${setting} in svc.yaml needs it.`, { hint });
  }
}
