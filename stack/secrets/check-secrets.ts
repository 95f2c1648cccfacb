import { createPrivateKey, createPublicKey } from 'node:crypto';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseKey } from '../../services/contracts/keys.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import type { Installation } from '../state/installation.ts';
import { busSeedPrefixes, isBusSeed } from './bus-seeds.ts';
import { isCertificateOf } from './node-certificate.ts';
import {
  fingerprintOf,
  hasSecret,
  nameOfSecret,
  readSecret,
  recordedFingerprint,
  type SecretFiles,
  type SecretsFor,
  secretFilesOf,
} from './secrets.ts';

/**
 * Throws if a secret is damaged, does not match the data, or is missing and svc cannot generate it. A secret that svc
 * can generate may be missing. Writes nothing.
 */
export function checkSecrets(installation: Installation, definition: SecretsFor): void {
  const files = secretFilesOf(installation);
  refuseToReplace(installation, files);
  const rules = [...identityRules(files), ...busRules(files, definition), ...graphRules(files, definition)];
  for (const { file, isRight, rule } of rules) {
    if (hasSecret(file) && !isRight(readSecret(file))) throw damaged(file, rule);
  }
  if (hasSecret(files.jwtPrivateKey) && !isPair(files)) {
    throw damaged(files.jwtPublicKey, 'the public half of secrets/jwt-private.pem');
  }
  refuseOtherKey(installation, files);
  checkGraphSecrets(definition, files);
}

/** With a new key the installation would look healthy, but could not decrypt its data. */
function refuseToReplace(installation: Installation, files: SecretFiles): void {
  const known = recordedFingerprint(installation);
  if (known !== undefined && !hasSecret(files.encryptionKey)) {
    throw new SvcError(
      'forbidden',
      `secrets/encryption.key is missing, and data/ is encrypted with it (fingerprint ${known}).`,
      { hint: 'Restore the key from a backup. Without it the stored data cannot be read.' },
    );
  }
  if (hasSecret(files.jwtPublicKey) && !hasSecret(files.jwtPrivateKey)) {
    throw new SvcError('forbidden', 'secrets/jwt-private.pem is missing, and jwt-public.pem belongs to it.', {
      hint: 'Restore it from a backup, or remove secrets/jwt-public.pem too: a new pair ends every session.',
    });
  }
}

function refuseOtherKey(installation: Installation, { encryptionKey }: SecretFiles): void {
  const known = recordedFingerprint(installation);
  if (known === undefined) return;
  const present = fingerprintOf(encryptionKey);
  if (present === known) return;
  throw new SvcError(
    'forbidden',
    `secrets/encryption.key (fingerprint ${present}) is not the key that data/ is encrypted with (fingerprint ${known}).`,
    { hint: 'Restore the right key, or the data of this key.' },
  );
}

interface Rule {
  readonly file: string;
  readonly isRight: (text: string) => boolean;
  /** The rule for the file's content. */
  readonly rule: string;
}

function identityRules({ encryptionKey, remoteMcpKey, runtimeKey }: SecretFiles): readonly Rule[] {
  const isHex = (text: string) => /^[0-9a-fA-F]{64}$/.test(text);
  const isSystemKey = (text: string) => {
    const parsed = parseKey(text);
    return parsed.ok && parsed.kind === 'system';
  };
  return [
    { file: encryptionKey, isRight: isHex, rule: 'a 64-character hex string (32 random bytes)' },
    ...[remoteMcpKey, runtimeKey].map((file) => ({ file, isRight: isSystemKey, rule: 'a key that starts with SYK_' })),
  ];
}

function busRules(files: SecretFiles, { topology, replicas }: SecretsFor): readonly Rule[] {
  if (topology === 'embedded') return [];
  const seed = (kind: 'user' | 'account', file: string): Rule => ({
    file,
    isRight: (text) => isBusSeed(kind, text),
    rule: `the seed of an nkey (${busSeedPrefixes[kind]}…)`,
  });
  const { busCalloutSeed, busSystemSeed, busIssuerSeed, busRoutes } = files;
  return [
    ...[seed('user', busCalloutSeed), seed('user', busSystemSeed), seed('account', busIssuerSeed)],
    // It is part of an address, as a user's password.
    ...(replicas.nats > 1 ? [{ file: busRoutes, isRight: isToken, rule: tokenRule }] : []),
  ];
}

/** Only for the platform's own Dgraph: an external one defines the form of its secrets itself. */
function graphRules(files: SecretFiles, definition: SecretsFor): readonly Rule[] {
  if (!hasOwnGraph(definition)) return [];
  const { graphToken, graphAclKey, graphPassword, graphAdminPassword } = files;
  const isPassword = (text: string) => /^[\x21-\x7e]{8,512}$/.test(text);
  return [
    // A semicolon would end it in Dgraph's configuration.
    { file: graphToken, isRight: isToken, rule: tokenRule },
    { file: graphAclKey, isRight: (text) => text.length >= 32, rule: 'at least 32 characters' },
    ...[graphPassword, graphAdminPassword].map((file) => {
      return { file, isRight: isPassword, rule: '8 to 512 visible characters' };
    }),
  ];
}

const tokenRule = '16 to 512 letters, digits, dashes or underscores';

function isToken(text: string): boolean {
  return /^[0-9A-Za-z_-]{16,512}$/.test(text);
}

function checkGraphSecrets(definition: SecretsFor, files: SecretFiles): void {
  const { graph, graphdb } = definition;
  if (graph !== 'dgraph') return;
  if (hasOwnGraph(definition)) {
    checkNodeCertificate(files);
    return;
  }
  const needed = [
    { file: files.graphPassword, field: `user: ${graphdb.user}`, isNeeded: graphdb.user !== undefined },
    { file: files.graphToken, field: 'token: true', isNeeded: graphdb.token },
  ];
  for (const { file, field, isNeeded } of needed) {
    if (!isNeeded || hasSecret(file)) continue;
    throw new SvcError('not_found', `${nameOfSecret(file)} is missing, and graphdb.${field} in svc.yaml needs it.`, {
      hint: "Write the secret of the external Dgraph into this file. Only secrets of the platform's own Dgraph are generated.",
    });
  }
}

function checkNodeCertificate({ graphNodeKey, graphNodeCertificate }: SecretFiles): void {
  if (!hasSecret(graphNodeCertificate)) return;
  const hasKey = hasSecret(graphNodeKey);
  if (hasKey && isCertificateOf(readSecret(graphNodeCertificate), readSecret(graphNodeKey))) return;
  throw new SvcError(
    'invalid_input',
    `${nameOfSecret(graphNodeCertificate)} must hold a certificate of ${nameOfSecret(graphNodeKey)}.`,
    { hint: 'Remove both: the next svc up creates new ones.' },
  );
}

/** A missing public key is derived. */
function isPair({ jwtPrivateKey, jwtPublicKey }: SecretFiles): boolean {
  try {
    const own = createPrivateKey(readSecret(jwtPrivateKey));
    if (own.asymmetricKeyType !== 'ed25519') return false;
    return !hasSecret(jwtPublicKey) || createPublicKey(own).equals(createPublicKey(readSecret(jwtPublicKey)));
  } catch {
    return false;
  }
}

function damaged(file: string, rule: string): SvcError {
  return new SvcError('invalid_input', `${nameOfSecret(file)} must hold ${rule}.`, {
    hint: 'Restore the right file from a backup.',
  });
}
