import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { calculateJwkThumbprint, exportJWK, type JSONWebKeySet } from 'jose';
import { SvcError } from '../../contracts/errors.ts';

/** The Ed25519 keys for the installation's tokens: one that signs, and those that verify, the current one first. */
export interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly verifying: readonly VerifyingKey[];
  /** RFC 7517 §5, for `/.well-known/jwks.json`. */
  readonly jwks: JSONWebKeySet;
}

export interface VerifyingKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly key: KeyObject;
}

export interface SigningKeyPaths {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly previousPublicKey: string | undefined;
}

export async function loadSigningKeys(paths: SigningKeyPaths): Promise<SigningKeys> {
  const privateKey = await loadPem('JWT_PRIVATE_KEY_PATH', paths.privateKey, createPrivateKey);
  const publicKey = await loadPem('JWT_PUBLIC_KEY_PATH', paths.publicKey, createPublicKey);
  if (!createPublicKey(privateKey).equals(publicKey)) {
    throw wrongKey('JWT_PUBLIC_KEY_PATH', paths.publicKey, 'is not the public half of JWT_PRIVATE_KEY_PATH', {
      hint: `Create it again: openssl pkey -in ${paths.privateKey} -pubout -out ${paths.publicKey}`,
    });
  }
  const publicKeys = [publicKey];
  if (paths.previousPublicKey !== undefined) {
    publicKeys.push(await loadPem('JWT_PREVIOUS_PUBLIC_KEY_PATH', paths.previousPublicKey, createPublicKey));
  }
  const published = await Promise.all(publicKeys.map(publish));
  return {
    privateKey,
    verifying: published.map(({ kid, key }) => ({ kid, key })),
    jwks: { keys: published.map(({ jwk }) => jwk) },
  };
}

async function publish(key: KeyObject) {
  const jwk = await exportJWK(key);
  const kid = await calculateJwkThumbprint(jwk, 'sha256');
  return { kid, key, jwk: { ...jwk, kid, alg: 'EdDSA', use: 'sig' } };
}

async function loadPem(variable: string, path: string, parse: (pem: string) => KeyObject): Promise<KeyObject> {
  const pem = await readPem(variable, path);
  const wanted = parse === createPrivateKey ? 'private' : 'public';
  // Node silently derives a public key from a private one; a private key must not be stored in a public place.
  if (wanted === 'public' && pem.includes('PRIVATE KEY')) {
    throw wrongKey(variable, path, 'must hold a public key, but holds a private one');
  }
  let key: KeyObject;
  try {
    key = parse(pem);
  } catch (cause) {
    throw wrongKey(variable, path, `does not hold a ${wanted} key in PEM form`, { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw wrongKey(variable, path, `must hold an Ed25519 key, but holds one of type "${key.asymmetricKeyType}"`);
  }
  return key;
}

async function readPem(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw wrongKey(variable, path, missing ? 'does not exist' : 'cannot be read', { cause });
  }
}

interface Details {
  readonly hint?: string;
  readonly cause?: unknown;
}

function wrongKey(variable: string, path: string, rule: string, details: Details = {}): SvcError {
  return new SvcError('invalid_input', `${variable}: "${path}" ${rule}.`, {
    hint: 'Generate a key: openssl genpkey -algorithm ed25519 -out private.pem',
    ...details,
  });
}
