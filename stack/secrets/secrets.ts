import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Secret } from '../../services/contracts/secret.ts';
import { writeDurably } from '../state/durable-file.ts';
import type { Installation } from '../state/installation.ts';
import { stateFile } from '../state/state-file.ts';
import { secretRows } from './secret-rows.ts';

/** The files in `secrets/`, by the names of their rows. */
export type SecretFiles = Readonly<Record<keyof typeof secretRows, string>>;

export function secretFilesOf({ secretsDir }: Pick<Installation, 'secretsDir'>): SecretFiles {
  const files = Object.entries(secretRows).map(([name, { file }]) => [name, join(secretsDir, file)]);
  // The compiler does not follow the names through the entries.
  return Object.fromEntries(files) as SecretFiles;
}

/** Identifies a secret without revealing it: equal for equal secrets, and useless for finding 256 random bits. */
export function fingerprintOf(file: string): string {
  return fingerprintOfText(readSecret(file));
}

export function fingerprintOfText(secret: string): string {
  return createHash('sha256').update(`svc:${secret}`).digest('hex').slice(0, 16);
}

export function busSeedsOf({ busCalloutSeed, busSystemSeed, busIssuerSeed }: SecretFiles) {
  const read = (file: string) => new Secret(readSecret(file));
  return { callout: read(busCalloutSeed), system: read(busSystemSeed), issuer: read(busIssuerSeed) };
}

export function readSecret(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

export function nameOfSecret(file: string): string {
  return `secrets/${basename(file)}`;
}

export function hasSecret(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

const fingerprintFile = stateFile('fingerprints.json', z.object({ encryptionKey: z.string() }), { folder: 'dataDir' });

/** The fingerprint of the key that the data is encrypted with; undefined without data. */
export function recordedFingerprint(installation: Installation): string | undefined {
  return fingerprintFile.read(installation)?.encryptionKey;
}

/** Records the fingerprint of the data's key, once there is data. */
export function recordFingerprint(installation: Installation): void {
  if (hasSecret(fingerprintFile.file(installation))) return;
  fingerprintFile.write(installation, { encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey) });
}

/** Puts another key in the place of the installation's own, for data that is encrypted with it. */
export function replaceEncryptionKey(installation: Installation, key: string): void {
  writeDurably(secretFilesOf(installation).encryptionKey, key);
  fingerprintFile.remove(installation);
  recordFingerprint(installation);
}
