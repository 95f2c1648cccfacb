import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../services/contracts/errors.ts';
import { newKey, parseKey } from '../services/contracts/keys.ts';
import { Secret } from '../services/contracts/secret.ts';
import { busSeedPrefixes, isBusSeed, newBusSeed } from './bus/seeds.ts';
import type { Definition } from './definition/definition.ts';
import { hasOwnGraph, isGraphOnLoopback } from './graph/has-own-graph.ts';
import { isCertificateOf, newNodeKey, nodeCertificate } from './graph/node-certificate.ts';
import type { CreationStep, Installation } from './installation.ts';
import { isCode, readJson, writeDurably, writeIfAbsent } from './state/durable-file.ts';
import { formatMode } from './state/file-mode.ts';
import { makeFolder } from './state/folder.ts';

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
export type SecretsFor = Pick<Definition, 'topology' | 'graph' | 'graphdb' | 'engine' | 'replicas'>;

/**
 * Generates what is missing, overwrites nothing, closes what others could read, and refuses keys that are damaged or do not
 * match the data, before anything starts.
 */
export function ensureSecrets(installation: Installation, definition: SecretsFor): readonly CreationStep[] {
  const hasBus = definition.topology !== 'embedded';
  const hasRoutes = definition.replicas.nats > 1;
  const files = secretFilesOf(installation);
  refuseToReplace(installation, files);
  const steps = [
    ensurePrivateFolder(installation.secretsDir),
    ensureFile(files.encryptionKey, () => randomBytes(32).toString('hex')),
    ensureFile(files.jwtPrivateKey, newSigningKey),
    ensureFile(files.jwtPublicKey, () => publicHalf(files.jwtPrivateKey)),
    ensureFile(files.remoteMcpKey, () => newKey('system').reveal()),
    ensureFile(files.runtimeKey, () => newKey('system').reveal()),
    ...(hasBus ? ensureBusSeeds(files) : []),
    ...(hasRoutes ? [ensureFile(files.busRoutes, newToken)] : []),
    ...(hasOwnGraph(definition) ? ensureGraphSecrets(files) : []),
    ...(isGraphOnLoopback(definition) ? ensureNodeCertificate(files) : []),
  ];
  const seen = new Set(steps.map(({ path }) => path));
  steps.push(...filesIn(installation).flatMap((file) => (seen.has(nameOf(file)) ? [] : [closeFile(file)])));
  checkSecrets(installation, files);
  if (hasBus) checkBusSeeds(files);
  // It stands in an address, as the password of a user.
  if (hasRoutes && !isToken(files.busRoutes)) throw damaged(files.busRoutes, tokenRule);
  checkGraphSecrets(definition, files);
  return steps;
}

/**
 * Closed to others, and to git before anything lies in it: a project's own .gitignore, which is not ours to change, need not know of
 * installations.
 */
export function ensurePrivateFolder(dir: string): CreationStep {
  const path = `${basename(dir)}/`;
  const created = makeFolder(dir, 0o700);
  const closed = closeMode(dir, 0o700);
  const ignored = writeIfAbsent(join(dir, gitignore), '*\n');
  if (created) return { path, outcome: 'created' };
  if (closed !== undefined) return { path, ...closed };
  return ignored
    ? { path, outcome: 'repaired', detail: 'git did not ignore it, now it does' }
    : { path, outcome: 'kept' };
}

/**
 * Closes each file and folder directly in a folder to others. What lies deeper cannot be reached then, and may be a program of an MCP
 * server. A container's user may own an entry, which is left as it is.
 */
export function closeEntries(dir: string): readonly CreationStep[] {
  return readdirSync(dir).flatMap((name) => {
    const file = join(dir, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || !(stat.isFile() || stat.isDirectory()) || stat.uid !== process.getuid?.()) return [];
    if ((stat.mode & 0o077) === 0) return [];
    try {
      return [{ path: `${basename(dir)}/${name}`, outcome: 'kept' as const, ...closeMode(file, stat.mode & 0o700) }];
    } catch (error) {
      // A platform that runs removed it meanwhile.
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  });
}

const gitignore = '.gitignore';

/** Names a secret without telling it: equal for equal secrets, and useless to find one of 256 random bits. */
export function fingerprintOf(file: string): string {
  return createHash('sha256')
    .update(`svc:${readSecret(file)}`)
    .digest('hex')
    .slice(0, 16);
}

/** What the backend shows to NATS. */
export function busSeedsOf({ busCalloutSeed, busSystemSeed, busIssuerSeed }: SecretFiles) {
  const read = (file: string) => new Secret(readSecret(file));
  return { callout: read(busCalloutSeed), system: read(busSystemSeed), issuer: read(busIssuerSeed) };
}

export function readSecret(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

function ensureFile(path: string, generate: () => string): CreationStep {
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!exists && writeIfAbsent(path, `${generate().trim()}\n`)) return { path: nameOf(path), outcome: 'created' };
  return closeFile(path);
}

function closeFile(path: string): CreationStep {
  return { path: nameOf(path), outcome: 'kept', ...closeMode(path, 0o600) };
}

function closeMode(path: string, wanted: number): Pick<CreationStep, 'outcome' | 'detail'> | undefined {
  const mode = statSync(path).mode & 0o777;
  if (mode === wanted) return undefined;
  chmodSync(path, wanted);
  return { outcome: 'repaired', detail: `its mode was ${formatMode(mode)}, now it is ${formatMode(wanted)}` };
}

function filesIn({ secretsDir }: Installation): readonly string[] {
  return readdirSync(secretsDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.draft') && entry.name !== gitignore)
    .map((entry) => join(secretsDir, entry.name));
}

function nameOf(file: string): string {
  return `secrets/${basename(file)}`;
}

function newSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function publicHalf(privateKeyFile: string): string {
  return createPublicKey(readSecret(privateKeyFile)).export({ type: 'spki', format: 'pem' }).toString();
}

const fingerprints = z.object({ encryptionKey: z.string() });

/** A new key beside data that the lost one encrypted would look like a healthy installation, and never be able to read it. */
function refuseToReplace({ dataDir }: Installation, files: SecretFiles): void {
  const known = fingerprints.safeParse(readJson(fingerprintFile(dataDir))).data;
  if (known !== undefined && !exists(files.encryptionKey)) {
    throw new SvcError(
      'forbidden',
      `secrets/encryption.key is missing, and data/ is encrypted with it (fingerprint ${known.encryptionKey}).`,
      { hint: 'Put the key back from a backup. Without it what is stored cannot be read.' },
    );
  }
  if (exists(files.jwtPublicKey) && !exists(files.jwtPrivateKey)) {
    throw new SvcError('forbidden', 'secrets/jwt-private.pem is missing, and jwt-public.pem belongs to it.', {
      hint: 'Put it back from a backup, or remove secrets/jwt-public.pem too: a new pair ends every session.',
    });
  }
}

function checkSecrets({ dataDir }: Installation, files: SecretFiles): void {
  if (!/^[0-9a-fA-F]{64}$/.test(readSecret(files.encryptionKey))) {
    throw damaged(files.encryptionKey, 'a 64-character hex string (32 random bytes)');
  }
  for (const file of [files.remoteMcpKey, files.runtimeKey]) {
    const parsed = parseKey(readSecret(file));
    if (!parsed.ok || parsed.kind !== 'system') throw damaged(file, 'a key that starts with SYK_');
  }
  if (!isPair(files)) throw damaged(files.jwtPublicKey, 'the public half of secrets/jwt-private.pem');
  const known = fingerprints.safeParse(readJson(fingerprintFile(dataDir))).data;
  const present = fingerprintOf(files.encryptionKey);
  if (known === undefined || known.encryptionKey === present) return;
  throw new SvcError(
    'forbidden',
    `secrets/encryption.key (fingerprint ${present}) is not the key that data/ is encrypted with (fingerprint ${known.encryptionKey}).`,
    { hint: 'Put the right key back, or the data that belongs to this one.' },
  );
}

function ensureBusSeeds(files: SecretFiles): readonly CreationStep[] {
  return [
    ensureFile(files.busCalloutSeed, () => newBusSeed('user')),
    ensureFile(files.busSystemSeed, () => newBusSeed('user')),
    ensureFile(files.busIssuerSeed, () => newBusSeed('account')),
  ];
}

function checkBusSeeds(files: SecretFiles): void {
  for (const [file, kind] of [
    [files.busCalloutSeed, 'user'],
    [files.busSystemSeed, 'user'],
    [files.busIssuerSeed, 'account'],
  ] as const) {
    if (!isBusSeed(kind, readSecret(file))) throw damaged(file, `the seed of an nkey (${busSeedPrefixes[kind]}…)`);
  }
}

function ensureGraphSecrets(files: SecretFiles): readonly CreationStep[] {
  const own = [files.graphAclKey, files.graphToken, files.graphPassword, files.graphAdminPassword];
  return own.map((file) => ensureFile(file, newToken));
}

function ensureNodeCertificate({ graphNodeKey, graphNodeCertificate }: SecretFiles): readonly CreationStep[] {
  return [
    ensureFile(graphNodeKey, newNodeKey),
    ensureFile(graphNodeCertificate, () => nodeCertificate(readSecret(graphNodeKey))),
  ];
}

function newToken(): string {
  return randomBytes(32).toString('hex');
}

const tokenRule = '16 to 512 letters, digits, dashes or underscores';

function isToken(file: string): boolean {
  return /^[0-9A-Za-z_-]{16,512}$/.test(readSecret(file));
}

function checkGraphSecrets(definition: SecretsFor, files: SecretFiles): void {
  const { graph, graphdb } = definition;
  if (graph !== 'dgraph') return;
  if (hasOwnGraph(definition)) {
    // A semicolon would end it in Dgraph's configuration.
    if (!isToken(files.graphToken)) throw damaged(files.graphToken, tokenRule);
    if (readSecret(files.graphAclKey).length < 32) throw damaged(files.graphAclKey, 'at least 32 characters');
    for (const file of [files.graphPassword, files.graphAdminPassword]) {
      if (!/^[\x21-\x7e]{8,512}$/.test(readSecret(file))) throw damaged(file, '8 to 512 visible characters');
    }
    if (isGraphOnLoopback(definition)) checkNodeCertificate(files);
    return;
  }
  const needed = [
    { file: files.graphPassword, field: `user: ${graphdb.user}`, isNeeded: graphdb.user !== undefined },
    { file: files.graphToken, field: 'token: true', isNeeded: graphdb.token },
  ];
  for (const { file, field, isNeeded } of needed) {
    if (!isNeeded || exists(file)) continue;
    throw new SvcError('not_found', `${nameOf(file)} is missing, and graphdb.${field} in svc.yaml needs it.`, {
      hint: 'Put there what that Dgraph knows: nothing is generated for one that somebody else runs.',
    });
  }
}

function checkNodeCertificate({ graphNodeKey, graphNodeCertificate }: SecretFiles): void {
  if (isCertificateOf(readSecret(graphNodeCertificate), readSecret(graphNodeKey))) return;
  throw new SvcError(
    'invalid_input',
    `${nameOf(graphNodeCertificate)} must hold a certificate of ${nameOf(graphNodeKey)}.`,
    {
      hint: 'Remove both: the next svc up makes new ones.',
    },
  );
}

function isPair(files: SecretFiles): boolean {
  try {
    const own = createPrivateKey(readSecret(files.jwtPrivateKey));
    return (
      own.asymmetricKeyType === 'ed25519' &&
      createPublicKey(own).equals(createPublicKey(readSecret(files.jwtPublicKey)))
    );
  } catch {
    return false;
  }
}

function damaged(file: string, rule: string): SvcError {
  return new SvcError('invalid_input', `${nameOf(file)} must hold ${rule}.`, {
    hint: 'Put the right file back from a backup.',
  });
}

/** Writes down which key the data is encrypted with, once there is data. */
export function recordFingerprint(installation: Installation): void {
  const file = fingerprintFile(installation.dataDir);
  if (exists(file)) return;
  writeDurably(file, JSON.stringify({ encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey) }));
}

function fingerprintFile(dataDir: string): string {
  return join(dataDir, 'fingerprints.json');
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
