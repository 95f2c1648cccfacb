import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { newKey, parseKey } from '../../services/contracts/keys.ts';
import { type Definition, hasOwnGraph } from '../settings/definition.ts';
import { type BusSeedKind, busSeedPrefixes, isBusSeed, newBusSeed } from './bus-seeds.ts';
import { isCertificateOf, newNodeKey, nodeCertificate } from './node-certificate.ts';

export type SecretsFor = Pick<Definition, 'topology' | 'graph' | 'graphdb' | 'replicas' | 'mail' | 'signIn'>;

/** The content of another file in secrets/, or an empty text. */
type ReadFile = (name: string) => string;

/** One file in secrets/: its row holds everything about it. */
export interface SecretRow {
  readonly file: string;
  /** Generates it; absent when only the operator provides it. */
  readonly generate?: (read: ReadFile) => string;
  /** Whether an installation with these settings generates and checks it; default: every installation. */
  readonly isOwn?: (settings: SecretsFor) => boolean;
  /** The rule for its content, in words that follow "must hold". */
  readonly rule?: string;
  readonly isRight?: (text: string, read: ReadFile) => boolean;
  /** The file that it is derived from. Only a backup brings that one back. */
  readonly of?: string;
  /** The repair of a damaged file; default: a backup. */
  readonly repair?: string;
  /** Where the operator must provide it: for which setting, and how. Null where it is not needed. */
  readonly neededBy?: (settings: SecretsFor) => { readonly setting: string; readonly repair: string } | null;
}

const ofSystem = {
  generate: () => newKey('system').reveal(),
  rule: 'a key that starts with SYK_',
  isRight(text: string) {
    const parsed = parseKey(text);
    return parsed.ok && parsed.kind === 'system';
  },
};

const ofBus = (kind: BusSeedKind) => ({
  generate: () => newBusSeed(kind),
  isOwn: ({ topology }: SecretsFor) => topology === 'distributed',
  rule: `the seed of an nkey (${busSeedPrefixes[kind]}…)`,
  isRight: (text: string) => isBusSeed(kind, text),
});

/** It is part of an address, or of a configuration in which other characters have a meaning. */
const token = {
  generate: newToken,
  rule: '16 to 512 letters, digits, dashes or underscores',
  isRight: (text: string) => /^[0-9A-Za-z_-]{16,512}$/.test(text),
};

const password = {
  generate: newToken,
  isOwn: hasOwnGraph,
  rule: '8 to 512 visible characters',
  isRight: (text: string) => /^[\x21-\x7e]{8,512}$/.test(text),
};

/** Every secret. A generated one comes after the secrets that it is derived from. */
export const secretRows = {
  encryptionKey: {
    file: 'encryption.key',
    generate: newToken,
    rule: 'a 64-character hex string (32 random bytes)',
    isRight: (text) => /^[0-9a-fA-F]{64}$/.test(text),
  },
  jwtPrivateKey: {
    file: 'jwt-private.pem',
    generate: () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    rule: 'an Ed25519 private key in PEM form',
    isRight: (text) => succeeds(() => createPrivateKey(text).asymmetricKeyType === 'ed25519'),
  },
  jwtPublicKey: {
    file: 'jwt-public.pem',
    of: 'jwt-private.pem',
    generate: (read) => createPublicKey(read('jwt-private.pem')).export({ type: 'spki', format: 'pem' }).toString(),
    rule: 'the public half of secrets/jwt-private.pem',
    isRight: (text, read) => succeeds(() => createPublicKey(read('jwt-private.pem')).equals(createPublicKey(text))),
    repair: 'Restore secrets/jwt-private.pem from a backup, or remove both files: a new pair ends every session.',
  },
  remoteMcpKey: { file: 'system-remote-mcp.key', ...ofSystem },
  runtimeKey: { file: 'system-runtime.key', ...ofSystem },
  /** The seeds of key pairs (nkeys) by which NATS knows the backend. */
  busCalloutSeed: { file: 'bus-callout.seed', ...ofBus('user') },
  busSystemSeed: { file: 'bus-system.seed', ...ofBus('user') },
  busIssuerSeed: { file: 'bus-issuer.seed', ...ofBus('account') },
  busRoutes: { file: 'bus-routes.key', ...token, isOwn: ({ replicas }) => replicas.nats > 1 },
  /** The key that the platform's own Dgraph signs access tokens with. */
  graphAclKey: {
    file: 'graphdb-acl.key',
    generate: newToken,
    isOwn: hasOwnGraph,
    rule: 'at least 32 characters',
    isRight: (text) => text.length >= 32,
  },
  /** The token for Dgraph's administration, besides a user. */
  graphToken: {
    file: 'graphdb-token.key',
    ...token,
    isOwn: hasOwnGraph,
    neededBy: (settings) => (settings.graphdb.token ? ofOtherGraph(settings, 'token: true') : null),
  },
  /** The password of the backend's user there. */
  graphPassword: {
    file: 'graphdb-password.key',
    ...password,
    neededBy: (settings) => {
      const { user } = settings.graphdb;
      return user === undefined ? null : ofOtherGraph(settings, `user: ${user}`);
    },
  },
  /** The password of Dgraph's built-in administrator. The platform does not use it. */
  graphAdminPassword: { file: 'graphdb-administrator.key', ...password },
  /** By this key, nodes of the platform's own Dgraph on loopback authenticate each other, and the backend them. */
  graphNodeKey: { file: 'graphdb-nodes.key', generate: newNodeKey, isOwn: hasOwnGraph },
  graphNodeCertificate: {
    file: 'graphdb-nodes.crt',
    generate: (read) => nodeCertificate(read('graphdb-nodes.key')),
    isOwn: hasOwnGraph,
    rule: 'a certificate of secrets/graphdb-nodes.key',
    isRight: (text, read) => isCertificateOf(text, read('graphdb-nodes.key')),
    repair: 'Remove both: the next svc up creates new ones.',
  },
  /** The key of the mail provider, or the password of the mail server's user. */
  mailKey: {
    file: 'mail.key',
    neededBy: ({ mail: { provider, smtp } }) => {
      if (provider === 'log' || (provider === 'smtp' && smtp.user === undefined)) return null;
      return provider === 'smtp'
        ? { setting: `mail.smtp.user: ${smtp.user}`, repair: "Write that user's password into this file." }
        : { setting: `mail.provider: ${provider}`, repair: "Write the provider's key into this file." };
    },
  },
  signInProvider: {
    file: 'sign-in-provider.key',
    neededBy: ({ signIn: { provider } }) =>
      provider.issuer === undefined
        ? null
        : {
            setting: `signIn.provider.issuer: ${provider.issuer}`,
            repair: "Write the provider's secret into this file.",
          },
  },
} satisfies Readonly<Record<string, SecretRow>>;

/** An external Dgraph defines the form of its secrets itself. */
function ofOtherGraph(settings: SecretsFor, field: string): { setting: string; repair: string } | null {
  if (settings.graph !== 'dgraph' || hasOwnGraph(settings)) return null;
  const repair =
    "Write the secret of the external Dgraph into this file. Only secrets of the platform's own Dgraph are generated.";
  return { setting: `graphdb.${field}`, repair };
}

/** 32 random bytes. */
function newToken(): string {
  return randomBytes(32).toString('hex');
}

/** Whether the check passes. A damaged key makes it throw. */
function succeeds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
