import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../../services/contracts/secret.ts';
import { type ArchivedSecret, archivedSecrets } from '../../content/archive-format.ts';
import { checkSecrets } from '../../secrets/ensure-folders.ts';
import { hasSecret, readSecret, replaceEncryptionKey, secretFilesOf } from '../../secrets/secrets.ts';
import { readDefinition } from '../../settings/check.ts';
import { writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';

type Secrets = ReadonlyMap<ArchivedSecret, Secret>;

/** The secrets of the platform itself, as far as it has them. */
export function archivedSecretsOf({ secretsDir }: Pick<Installation, 'secretsDir'>): Secrets {
  const files = secretFilesOf({ secretsDir });
  const present = archivedSecrets.filter((name) => hasSecret(files[name]));
  return new Map(present.map((name) => [name, new Secret(readSecret(files[name]))]));
}

/** Throws if `svc up` would refuse one of the secrets. It looks at them in a folder of their own. */
export function checkArchivedSecrets(installation: Installation, secrets: Secrets): void {
  const secretsDir = join(installation.stateDir, 'archived-secrets');
  const clear = () => rmSync(secretsDir, { recursive: true, force: true });
  // A killed check may have left it.
  clear();
  try {
    writeSecrets(secretsDir, secrets);
    const definition = readDefinition(installation.definitionFile);
    checkSecrets({ ...installation, secretsDir }, { ...definition, topology: 'embedded', graph: 'sqlite' });
  } finally {
    clear();
  }
}

/** Keeps those secrets of the installation in a folder that other secrets are about to replace. */
export function keepSecrets(installation: Installation, keptDir: string, secrets: Secrets): void {
  if (secrets.size === 0) return;
  const own = archivedSecretsOf(installation);
  writeSecrets(keptDir, new Map([...own].filter(([name]) => secrets.has(name))));
}

export function putSecrets(installation: Installation, secrets: Secrets): void {
  const files = secretFilesOf(installation);
  // The next start derives it from the private key. A pair whose halves differ is refused.
  if (secrets.has('jwtPrivateKey')) rmSync(files.jwtPublicKey, { force: true });
  for (const [name, secret] of secrets) {
    if (name === 'encryptionKey') replaceEncryptionKey(installation, secret.reveal());
    else writeDurably(files[name], `${secret.reveal()}\n`);
  }
}

function writeSecrets(secretsDir: string, secrets: Secrets): void {
  const files = secretFilesOf({ secretsDir });
  mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
  for (const [name, secret] of secrets) writeDurably(files[name], `${secret.reveal()}\n`);
}
