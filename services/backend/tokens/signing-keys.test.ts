import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSigningKeys } from './signing-keys.ts';

let folder: string;
const ours = generateKeyPairSync('ed25519');
const older = generateKeyPairSync('ed25519');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-tokens-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function pem(name: string, key: KeyObject): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }));
  return path;
}

async function goodPaths() {
  return {
    privateKey: await pem('private.pem', ours.privateKey),
    publicKey: await pem('public.pem', ours.publicKey),
    previousPublicKey: undefined,
  };
}

describe('loading', () => {
  test('a pair is published under its thumbprint, without its private half', async () => {
    const keys = await loadSigningKeys(await goodPaths());
    expect(keys.jwks.keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: ours.publicKey.export({ format: 'jwk' }).x,
        kid: keys.verifying[0]?.kid,
        alg: 'EdDSA',
        use: 'sig',
      },
    ]);
    expect(keys.verifying[0]?.kid).toMatch(/^[\w-]{43}$/);
  });

  test('the previous public key is published and verifies too', async () => {
    const keys = await loadSigningKeys({
      ...(await goodPaths()),
      previousPublicKey: await pem('old.pem', older.publicKey),
    });
    expect(keys.jwks.keys.map((key) => key.x)).toEqual([
      ours.publicKey.export({ format: 'jwk' }).x,
      older.publicKey.export({ format: 'jwk' }).x,
    ]);
    expect(new Set(keys.verifying.map(({ kid }) => kid)).size).toBe(2);
  });
});

describe('refusals name the variable and the path', () => {
  test('a missing file', async () => {
    const paths = { ...(await goodPaths()), privateKey: join(folder, 'nothing.pem') };
    await expect(loadSigningKeys(paths)).rejects.toThrow(/^JWT_PRIVATE_KEY_PATH: ".*nothing\.pem" does not exist/);
  });

  test('a path that cannot be read', async () => {
    await expect(loadSigningKeys({ ...(await goodPaths()), publicKey: folder })).rejects.toThrow(
      /^JWT_PUBLIC_KEY_PATH: .* cannot be read/,
    );
  });

  test('text that is not a key', async () => {
    const path = join(folder, 'text.pem');
    await writeFile(path, 'not a key');
    await expect(loadSigningKeys({ ...(await goodPaths()), privateKey: path })).rejects.toThrow(
      /^JWT_PRIVATE_KEY_PATH: .* does not hold a private key in PEM form/,
    );
  });

  test('a key of another type', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const paths = { ...(await goodPaths()), privateKey: await pem('rsa.pem', privateKey) };
    await expect(loadSigningKeys(paths)).rejects.toThrow(/^JWT_PRIVATE_KEY_PATH: .* must hold an Ed25519 key, .*"rsa"/);
  });

  test('the public key of another pair', async () => {
    const paths = { ...(await goodPaths()), publicKey: await pem('other.pem', older.publicKey) };
    await expect(loadSigningKeys(paths)).rejects.toThrow(
      /^JWT_PUBLIC_KEY_PATH: .* is not the public half of JWT_PRIVATE_KEY_PATH/,
    );
  });

  test('a private key in place of a public one', async () => {
    const paths = { ...(await goodPaths()), previousPublicKey: await pem('private-old.pem', older.privateKey) };
    await expect(loadSigningKeys(paths)).rejects.toThrow(/^JWT_PREVIOUS_PUBLIC_KEY_PATH: .* holds a private one/);
  });
});
