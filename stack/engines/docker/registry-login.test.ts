import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRegistryLogin, registryOf } from './registry-login.ts';

const dockerHub = 'https://index.docker.io/v1/';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-login-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = () => ({ DOCKER_CONFIG: folder, PATH: `${folder}:/usr/bin:/bin` });
const login = (image: string) => findRegistryLogin(image, env());
const writeConfig = (config: object) => writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
const basic = (text: string) => Buffer.from(text).toString('base64');

/** Writes a credential helper like docker-credential-pass, which knows one registry. */
function writeHelper(name: string, registry: string, answer: string): void {
  const script = `#!/bin/sh\nread -r asked\nif [ "$1 $asked" = "get ${registry}" ]; then echo '${answer}'; else echo 'credentials not found in native keychain'; exit 1; fi\n`;
  const file = join(folder, `docker-credential-${name}`);
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}

test.each([
  ['nats:2.15.0', dockerHub],
  ['dgraph/dgraph:v25.4.0', dockerHub],
  ['docker.io/library/nats:2.15.0', dockerHub],
  ['registry.example.com/team/node:24.1.0', 'registry.example.com'],
  ['localhost/node:24.1.0', 'localhost'],
  ['127.0.0.1:5000/node:24.1.0', '127.0.0.1:5000'],
])('the registry of %s is %s', (image, registry) => expect(registryOf(image)).toBe(registry));

test('without a stored login the result is null', async () => {
  expect(await login('nats:2.15.0')).toBeNull();
  writeConfig({ auths: { 'other.example.com': { auth: basic('ann:secret') } } });
  expect(await login('registry.example.com/node:24.1.0')).toBeNull();
});

test('a login in the file itself is found, be it a password or a token', async () => {
  const own = 'registry.example.com';
  writeConfig({ auths: { [dockerHub]: { auth: basic('ann:with:colon') }, [own]: { identitytoken: 'token' } } });
  expect(await login('nats:2.15.0')).toEqual({ username: 'ann', password: 'with:colon', serveraddress: dockerHub });
  expect(await login(`${own}/node:24.1.0`)).toEqual({ identitytoken: 'token', serveraddress: own });
});

test('the credential helper is asked, and that of a single registry first', async () => {
  writeHelper('all', dockerHub, '{"Username":"ann","Secret":"one"}');
  writeHelper('single', 'registry.example.com', '{"Username":"<token>","Secret":"two"}');
  writeConfig({ credsStore: 'all', credHelpers: { 'registry.example.com': 'single' } });
  expect(await login('nats:2.15.0')).toMatchObject({ username: 'ann', password: 'one' });
  expect(await login('registry.example.com/node:24.1.0')).toMatchObject({ identitytoken: 'two' });
  expect(await login('other.example.com/node:24.1.0')).toBeNull();
});

test('a missing or broken credential helper is named, without its output', async () => {
  writeConfig({ credsStore: 'missing' });
  await expect(login('nats:2.15.0')).rejects.toMatchObject({
    code: 'unavailable',
    message: `The login for "${dockerHub}" could not be read: "docker-credential-missing" printed none.`,
    hint: expect.stringContaining('docker login'),
  });
  writeHelper('odd', dockerHub, '{"Secret":"hidden"}');
  writeConfig({ credsStore: 'odd' });
  await expect(login('nats:2.15.0')).rejects.toThrow('"docker-credential-odd" printed none.');
});
