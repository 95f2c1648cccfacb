import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
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
  /** Seeds of key pairs (nkeys) that NATS knows the backend by; only where there is NATS. */
  readonly busCalloutSeed: string;
  readonly busSystemSeed: string;
  readonly busIssuerSeed: string;
  /** Nodes of our own NATS know each other by it, where there are several. */
  readonly busRoutes: string;
  /** What our own Dgraph signs with whom it has let in. */
  readonly graphAclKey: string;
  /** Dgraph's administration takes it beside a user; of one that somebody else runs the operator puts it there. */
  readonly graphToken: string;
  /** Of the backend's user there; of one that somebody else runs the operator puts it there. */
  readonly graphPassword: string;
  /** Of the administrator that every Dgraph is born with. Nothing of ours uses it. */
  readonly graphAdminPassword: string;
  /** Nodes of our own Dgraph know each other by it, and the backend them by its certificate, where they are on loopback. */
  readonly graphNodeKey: string;
  readonly graphNodeCertificate: string;
  /** The mail provider's, put there by the operator; nothing is generated. */
  readonly mailKey: string;
}

export function secretFilesOf({ secretsDir }: Installation): SecretFiles {
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

/** What decides which secrets there are. */
export type SecretsFor = Pick<Definition, 'topology' | 'graph' | 'graphdb' | 'replicas'>;

/** Names a secret without telling it: equal for equal secrets, and useless to find one of 256 random bits. */
export function fingerprintOf(file: string): string {
  return fingerprintOfText(readSecret(file));
}

export function fingerprintOfText(secret: string): string {
  return createHash('sha256').update(`svc:${secret}`).digest('hex').slice(0, 16);
}

/** What the backend shows to NATS. */
export function busSeedsOf({ busCalloutSeed, busSystemSeed, busIssuerSeed }: SecretFiles) {
  const read = (file: string) => new Secret(readSecret(file));
  return { callout: read(busCalloutSeed), system: read(busSystemSeed), issuer: read(busIssuerSeed) };
}

export function readSecret(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

/** As operators know the file. */
export function nameOfSecret(file: string): string {
  return `secrets/${basename(file)}`;
}

export function hasSecret(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

const fingerprints = z.object({ encryptionKey: z.string() });

/** The fingerprint of the key that the data is encrypted with; undefined where there is no data. */
export function recordedFingerprint({ dataDir }: Installation): string | undefined {
  return fingerprints.safeParse(readJson(fingerprintFile(dataDir))).data?.encryptionKey;
}

/** Writes down which key the data is encrypted with, once there is data. */
export function recordFingerprint(installation: Installation): void {
  const file = fingerprintFile(installation.dataDir);
  if (hasSecret(file)) return;
  writeDurably(file, JSON.stringify({ encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey) }));
}

function fingerprintFile(dataDir: string): string {
  return join(dataDir, 'fingerprints.json');
}
