import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newKey } from '../../services/contracts/keys.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import { writeIfAbsent } from '../state/durable-file.ts';
import type { CreationStep, Installation } from '../state/installation.ts';
import { closeMode, ensurePrivateFolder, gitignore } from '../state/private-folder.ts';
import { newBusSeed } from './bus-seeds.ts';
import { checkSecrets } from './check-secrets.ts';
import { newNodeKey, nodeCertificate } from './node-certificate.ts';
import { hasSecret, nameOfSecret, readSecret, type SecretFiles, type SecretsFor, secretFilesOf } from './secrets.ts';

/** Generates missing secrets, overwrites none, removes permissions of others, and refuses as `checkSecrets` does. */
export function ensureSecrets(installation: Installation, definition: SecretsFor): readonly CreationStep[] {
  checkSecrets(installation, definition);
  const folder = ensurePrivateFolder(installation.secretsDir);
  const steps = generatedSecrets(installation, definition).map(ensureFile);
  const seen = new Set(steps.map(({ path }) => path));
  const others = filesIn(installation).filter((file) => !seen.has(nameOfSecret(file)));
  return [folder, ...steps, ...others.map(closeFile)];
}

/** Those that `ensureSecrets` would generate. */
export function missingSecrets(installation: Installation, definition: SecretsFor): ReadonlySet<string> {
  const files = generatedSecrets(installation, definition).map(({ file }) => file);
  return new Set(files.filter((file) => !hasSecret(file)));
}

interface Generated {
  readonly file: string;
  readonly generate: () => string;
}

/** Ordered: each secret comes after the secrets that it is derived from. */
function generatedSecrets(installation: Installation, definition: SecretsFor): readonly Generated[] {
  const files = secretFilesOf(installation);
  const { encryptionKey, jwtPrivateKey, jwtPublicKey, remoteMcpKey, runtimeKey, busRoutes } = files;
  return [
    { file: encryptionKey, generate: newToken },
    { file: jwtPrivateKey, generate: newSigningKey },
    { file: jwtPublicKey, generate: () => publicHalf(jwtPrivateKey) },
    { file: remoteMcpKey, generate: () => newKey('system').reveal() },
    { file: runtimeKey, generate: () => newKey('system').reveal() },
    ...(definition.topology === 'embedded' ? [] : busSeeds(files)),
    ...(definition.replicas.nats > 1 ? [{ file: busRoutes, generate: newToken }] : []),
    ...(hasOwnGraph(definition) ? [...graphSecrets(files), ...nodeCertificates(files)] : []),
  ];
}

function busSeeds({ busCalloutSeed, busSystemSeed, busIssuerSeed }: SecretFiles): readonly Generated[] {
  return [
    { file: busCalloutSeed, generate: () => newBusSeed('user') },
    { file: busSystemSeed, generate: () => newBusSeed('user') },
    { file: busIssuerSeed, generate: () => newBusSeed('account') },
  ];
}

function graphSecrets({ graphAclKey, graphToken, graphPassword, graphAdminPassword }: SecretFiles) {
  const own = [graphAclKey, graphToken, graphPassword, graphAdminPassword];
  return own.map((file): Generated => ({ file, generate: newToken }));
}

function nodeCertificates({ graphNodeKey, graphNodeCertificate }: SecretFiles): readonly Generated[] {
  return [
    { file: graphNodeKey, generate: newNodeKey },
    { file: graphNodeCertificate, generate: () => nodeCertificate(readSecret(graphNodeKey)) },
  ];
}

function ensureFile({ file, generate }: Generated): CreationStep {
  const isMade = !hasSecret(file) && writeIfAbsent(file, `${generate().trim()}\n`);
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

/** 32 random bytes. */
function newToken(): string {
  return randomBytes(32).toString('hex');
}

function newSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function publicHalf(privateKeyFile: string): string {
  return createPublicKey(readSecret(privateKeyFile)).export({ type: 'spki', format: 'pem' }).toString();
}
