import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Secret } from '../../services/contracts/secret.ts';
import type { Definition } from '../settings/definition.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import type { Installation } from '../state/installation.ts';

/** The files in `secrets/`. */
export interface SecretFiles {
  readonly encryptionKey: string;
  readonly jwtPrivateKey: string;
  readonly jwtPublicKey: string;
  readonly remoteMcpKey: string;
  readonly runtimeKey: string;
  /** Seeds of key pairs (nkeys) by which NATS knows the backend; only with NATS. */
  readonly busCalloutSeed: string;
  readonly busSystemSeed: string;
  readonly busIssuerSeed: string;
  /** The shared secret of a NATS cluster's nodes. */
  readonly busRoutes: string;
  /** The key that the platform's own Dgraph signs access tokens with. */
  readonly graphAclKey: string;
  /** Token for Dgraph's administration, besides a user; for an external one the operator provides it. */
  readonly graphToken: string;
  /** Password of the backend's user there; for an external one the operator provides it. */
  readonly graphPassword: string;
  /** Password of Dgraph's built-in administrator. The platform does not use it. */
  readonly graphAdminPassword: string;
  /**
   * The key by which nodes of the platform's own Dgraph on loopback authenticate each other, and the backend
   * authenticates them.
   */
  readonly graphNodeKey: string;
  readonly graphNodeCertificate: string;
  /** The mail provider's key, from the operator; it is never generated. */
  readonly mailKey: string;
}

export function secretFilesOf({ secretsDir }: Pick<Installation, 'secretsDir'>): SecretFiles {
  return {
    encryptionKey: join(secretsDir, 'encryption.key'),
    jwtPrivateKey: join(secretsDir, 'jwt-private.pem'),
    jwtPublicKey: join(secretsDir, 'jwt-public.pem'),
    remoteMcpKey: join(secretsDir, 'system-remote-mcp.key'),
    runtimeKey: join(secretsDir, 'system-runtime.key'),
    busCalloutSeed: join(secretsDir, 'bus-callout.seed'),
    busSystemSeed: join(secretsDir, 'bus-system.seed'),
    busIssuerSeed: join(secretsDir, 'bus-issuer.seed'),
    busRoutes: join(secretsDir, 'bus-routes.key'),
    graphAclKey: join(secretsDir, 'graphdb-acl.key'),
    graphToken: join(secretsDir, 'graphdb-token.key'),
    graphPassword: join(secretsDir, 'graphdb-password.key'),
    graphAdminPassword: join(secretsDir, 'graphdb-administrator.key'),
    graphNodeKey: join(secretsDir, 'graphdb-nodes.key'),
    graphNodeCertificate: join(secretsDir, 'graphdb-nodes.crt'),
    mailKey: join(secretsDir, 'mail.key'),
  };
}

/** The settings that decide which secrets exist. */
export type SecretsFor = Pick<Definition, 'topology' | 'graph' | 'graphdb' | 'replicas'>;

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
