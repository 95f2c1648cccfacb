import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import type { Graph } from '../graph/graph.ts';
import { openGraph } from '../graph/open-graph.ts';
import { checkEncryptionKey, encryptionKeysSetting } from './check-encryption-key.ts';
import { openSecrets } from './secrets.ts';

let folder: string;
let graph: Graph;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-keys-'));
  graph = await openGraph({ url: `file:${join(folder, 'graph.sqlite')}` });
});
afterEach(async () => {
  await graph.close();
  await rm(folder, { recursive: true, force: true });
});

const keys = { a: new Secret('a1'.repeat(32)), b: new Secret('b2'.repeat(32)), c: new Secret('c3'.repeat(32)) };
const fingerprint = (name: keyof typeof keys) => given(name).fingerprints[0] ?? '';

function given(present: keyof typeof keys, previous?: keyof typeof keys) {
  return openSecrets({ present: keys[present], previous: previous === undefined ? undefined : keys[previous] });
}

async function boot(present: keyof typeof keys, previous?: keyof typeof keys): Promise<void> {
  await checkEncryptionKey(graph, given(present, previous));
}

async function written(): Promise<string | undefined> {
  return (await graph.findBy('setting', { name: encryptionKeysSetting }, null))?.value;
}

test('the first boot writes the fingerprint, later ones with the same key leave it', async () => {
  await boot('a');
  expect(await written()).toBe(fingerprint('a'));
  await boot('a');
  expect(await written()).toBe(fingerprint('a'));
});

test('another key is refused with both fingerprints, and changes nothing', async () => {
  await boot('a');
  await expect(boot('b')).rejects.toMatchObject({
    code: 'invalid_input',
    message: `ENCRYPTION_KEY is not the key that this platform's records are encrypted with: expected the one with fingerprint ${fingerprint('a')}, given ${fingerprint('b')}.`,
    hint: expect.stringContaining('ENCRYPTION_KEY_PREVIOUS'),
  });
  await expect(boot('b', 'c')).rejects.toThrow(/^ENCRYPTION_KEY is not the key/);
  expect(await written()).toBe(fingerprint('a'));
});

test('a new key takes over from the previous one, which stays required', async () => {
  await boot('a');
  await boot('b', 'a');
  expect(await written()).toBe(`${fingerprint('b')} ${fingerprint('a')}`);
  await boot('b', 'a');
  await expect(boot('b')).rejects.toMatchObject({
    message: expect.stringMatching(
      new RegExp(`^ENCRYPTION_KEY_PREVIOUS .* expected .* ${fingerprint('a')}, given none\\.$`),
    ),
    hint: expect.stringContaining('not all re-encrypted'),
  });
});

test('a third key must wait until the first is out of use', async () => {
  await boot('a');
  await boot('b', 'a');
  await expect(boot('c', 'b')).rejects.toThrow(new RegExp(`^ENCRYPTION_KEY_PREVIOUS .* ${fingerprint('a')}`));
});

test('a rotation can be reverted', async () => {
  await boot('a');
  await boot('b', 'a');
  await boot('a', 'b');
  expect(await written()).toBe(`${fingerprint('a')} ${fingerprint('b')}`);
});
