import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Secret } from '../../services/contracts/secret.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import type { Installation } from '../state/installation.ts';
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

/** The backend's credentials for NATS. */
export function busSeedsOf({ busCalloutSeed, busSystemSeed, busIssuerSeed }: SecretFiles) {
  const read = (file: string) => new Secret(readSecret(file));
  return { callout: read(busCalloutSeed), system: read(busSystemSeed), issuer: read(busIssuerSeed) };
}

export function readSecret(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

/** The file's name for operators. */
export function nameOfSecret(file: string): string {
  return `secrets/${basename(file)}`;
}

export function hasSecret(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

const fingerprints = z.object({ encryptionKey: z.string() });

/** The fingerprint of the key that the data is encrypted with; undefined without data. */
export function recordedFingerprint({ dataDir }: Installation): string | undefined {
  return fingerprints.safeParse(readJson(fingerprintFile(dataDir))).data?.encryptionKey;
}

/** Records the fingerprint of the data's key, once there is data. */
export function recordFingerprint(installation: Installation): void {
  const file = fingerprintFile(installation.dataDir);
  if (hasSecret(file)) return;
  writeDurably(file, JSON.stringify({ encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey) }));
}

/** Puts another key in the place of the installation's own, for data that is encrypted with it. */
export function replaceEncryptionKey(installation: Installation, key: string): void {
  writeDurably(secretFilesOf(installation).encryptionKey, key);
  rmSync(fingerprintFile(installation.dataDir), { force: true });
  recordFingerprint(installation);
}

function fingerprintFile(dataDir: string): string {
  return join(dataDir, 'fingerprints.json');
}
