import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseKey } from '../../services/contracts/keys.ts';
import { ensureFolders } from '../secrets/ensure-folders.ts';
import { newNodeKey } from '../secrets/node-certificate.ts';
import { recordFingerprint } from '../secrets/secrets.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import type { Installation } from '../state/installation.ts';
import { readManifest } from '../state/manifest.ts';
import { createInstallation } from './create-installation.ts';

const embedded = definitionOf('');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-create-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function create(): Promise<Installation> {
  return (await createInstallation({ dir: join(root, 'acme', 'svc') })).installation;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function contentOf({ dir }: Installation): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')]),
  );
}

describe('a new installation', () => {
  test('has its folders and secrets, closed to others, and lists them', async () => {
    const installation = await create();
    const { dir, secretsDir, dataDir, stateDir, logsDir } = installation;
    for (const folder of [secretsDir, dataDir, stateDir, logsDir]) expect(modeOf(folder), folder).toBe('700');
    expect(modeOf(join(dir, 'svc.yaml'))).toBe('644');
    const secrets = readdirSync(secretsDir).sort();
    const keys = ['encryption.key', 'jwt-private.pem', 'jwt-public.pem', 'system-remote-mcp.key', 'system-runtime.key'];
    expect(secrets).toEqual(['.gitignore', ...keys]);
    for (const name of secrets) expect(modeOf(join(secretsDir, name)), name).toBe('600');
    const made = ['svc.yaml', 'secrets', 'secrets/.gitignore', 'secrets/encryption.key', 'data', 'state', 'logs'];
    expect(readManifest(installation).map(({ path }) => path)).toEqual(expect.arrayContaining(made));
  });

  test('has keys of the right kind, each its own', async () => {
    const { secretsDir } = await create();
    const read = (name: string) => readFileSync(join(secretsDir, name), 'utf8').trim();
    expect(read('encryption.key')).toMatch(/^[0-9a-f]{64}$/);
    const pair = createPrivateKey(read('jwt-private.pem'));
    expect(pair.asymmetricKeyType).toBe('ed25519');
    expect(createPublicKey(pair).equals(createPublicKey(read('jwt-public.pem')))).toBe(true);
    const keys = [read('system-remote-mcp.key'), read('system-runtime.key')];
    for (const key of keys) expect(parseKey(key)).toMatchObject({ ok: true, kind: 'system' });
    expect(new Set(keys).size).toBe(2);
  });

  test('takes its name from the folder around it, and the choices that were made', async () => {
    const choices = { ownerEmail: 'ops@example.com', ports: { frontend: 9000 } };
    const { installation } = await createInstallation({ dir: join(root, 'acme', 'svc'), ...choices });
    const definition = readDefinition(installation.definitionFile);
    expect(definition).toMatchObject({ name: 'acme', owner: { email: 'ops@example.com' }, ports: { frontend: 9000 } });
    const { installation: other } = await createInstallation({ dir: join(root, 'other') });
    expect(readDefinition(other.definitionFile)).toMatchObject({ name: 'other' });
    expect(readDefinition(other.definitionFile).id).not.toBe(definition.id);
  });

  test('does not begin with a wrong choice', async () => {
    await expect(createInstallation({ dir: join(root, 'x'), ownerEmail: 'nobody' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'The owner must be given by an e-mail address, not "nobody".',
    });
    expect(readdirSync(root)).toEqual([]);
  });
});

test('git includes only svc.yaml of it, whatever .gitignore the project has, and of an existing one', async () => {
  const git = (...words: string[]) => execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' });
  git('init', '--quiet');
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  const installation = await create();
  for (const folder of [installation.dataDir, installation.stateDir, installation.logsDir])
    writeFileSync(join(folder, 'something'), 'x', { mode: 0o600 });
  const expectOnlyDefinition = () => {
    git('add', '--all');
    expect(git('ls-files').trim().split('\n')).toEqual(['.gitignore', 'acme/svc/svc.yaml']);
  };
  expectOnlyDefinition();
  for (const folder of [installation.secretsDir, installation.stateDir]) rmSync(join(folder, '.gitignore'));
  const detail = 'git did not ignore it; it does now';
  const repaired = ['state/', 'secrets/'].map((path) => ({ path, outcome: 'repaired', detail }));
  expect(ensureFolders(installation, embedded).filter(({ outcome }) => outcome !== 'kept')).toEqual(repaired);
  expectOnlyDefinition();
});

describe('an existing installation', () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await create();
  });
  const fileOf = (name: string) => join(installation.secretsDir, name);
  const check = (definition = embedded) => ensureFolders(installation, definition);

  test('gets only missing files, and each other one is reported as kept', async () => {
    const before = contentOf(installation);
    rmSync(fileOf('system-runtime.key'));
    const { steps } = await createInstallation({ dir: installation.dir, ownerEmail: 'other@example.com' });
    const changed = steps.filter(({ outcome }) => outcome !== 'kept');
    expect(changed).toEqual([{ path: 'secrets/system-runtime.key', outcome: 'created' }]);
    const after = contentOf(installation);
    expect(after['system-runtime.key']).not.toBe(before['system-runtime.key']);
    expect({ ...after, 'system-runtime.key': '' }).toEqual({ ...before, 'system-runtime.key': '' });
  });

  test('keeps drafts of a running process only', () => {
    const left = fileOf('encryption.key.4194305-0123abcd.draft');
    const own = join(installation.stateDir, `ports.json.${process.pid}-0123abcd.draft`);
    for (const file of [left, own]) writeFileSync(file, 'x');
    check();
    expect([existsSync(left), existsSync(own)]).toEqual([false, true]);
  });

  test('is closed where modes are too open, with a notice', () => {
    chmodSync(installation.secretsDir, 0o755);
    writeFileSync(fileOf('mail.key'), 'secret');
    chmodSync(fileOf('mail.key'), 0o664);
    chmodSync(fileOf('encryption.key'), 0o644);
    const repaired = check().filter(({ outcome }) => outcome === 'repaired');
    expect(repaired.map(({ path, detail }) => `${path} ${detail}`)).toEqual([
      'secrets/ changed its mode from 0755 to 0700',
      'secrets/encryption.key changed its mode from 0644 to 0600',
      'secrets/mail.key changed its mode from 0664 to 0600',
    ]);
    expect(modeOf(fileOf('encryption.key'))).toBe('600');
  });

  /** Expects that each of these texts is refused in its file, with this rule in the message. */
  function expectRefused(definition: Definition, wrong: readonly (readonly [string, string, RegExp])[]) {
    for (const [name, text, rule] of wrong) {
      const before = readFileSync(fileOf(name));
      writeFileSync(fileOf(name), text);
      const refusal = expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(rule) });
      expect(() => check(definition), name).toThrow(refusal);
      writeFileSync(fileOf(name), before);
    }
  }

  test('is refused another encryption key than its data was encrypted with, and gets none beside data', () => {
    recordFingerprint(installation);
    const file = fileOf('encryption.key');
    const key = readFileSync(file);
    writeFileSync(file, `${'ab'.repeat(32)}\n`);
    expect(() => check()).toThrow(
      /encryption\.key \(fingerprint [0-9a-f]{16}\) is not the key that data\/ is encrypted with \(fingerprint [0-9a-f]{16}\)/,
    );
    rmSync(file);
    expect(() => check()).toThrow(/encryption\.key is missing, and data\/ is encrypted with it/);
    expect(existsSync(file)).toBe(false);
    // The right key is accepted again.
    writeFileSync(file, key);
    expect(() => check()).not.toThrow();
  });

  test('is refused damaged files, each named with its rule', () => {
    recordFingerprint(installation);
    expectRefused(embedded, [
      ['encryption.key', 'damaged', /encryption\.key must hold a 64-character hex string/],
      ['system-runtime.key', 'damaged', /system-runtime\.key must hold a key that starts with SYK_/],
      ['jwt-private.pem', 'damaged', /jwt-private\.pem must hold an Ed25519 private key/],
      ['jwt-public.pem', 'damaged', /jwt-public\.pem must hold the public half/],
    ]);
  });

  test('gets missing secrets of its own Dgraph, and is refused wrong ones, each named with its rule', () => {
    const own = definitionOf('topology: distributed\ngraph: dgraph\n');
    const made = check(own).filter(({ outcome }) => outcome === 'created');
    const ofGraph = ['acl.key', 'token.key', 'password.key', 'administrator.key', 'nodes.key', 'nodes.crt'];
    const graphPaths = made.map(({ path }) => path).filter((path) => path.includes('graphdb'));
    expect(graphPaths).toEqual(ofGraph.map((name) => `secrets/graphdb-${name}`));
    expectRefused(own, [
      ['graphdb-acl.key', 'short', /graphdb-acl\.key must hold at least 32 characters/],
      ['graphdb-token.key', `${'x'.repeat(32)};`, /graphdb-token\.key must hold 16 to 512 letters/],
      ['graphdb-password.key', 'with spaces in it', /graphdb-password\.key must hold 8 to 512 visible/],
      ['graphdb-nodes.key', newNodeKey(), /graphdb-nodes\.crt must hold a certificate of secrets\/graphdb-nodes\.key/],
      ['graphdb-nodes.key', 'damaged', /graphdb-nodes\.crt must hold a certificate of/],
      ['graphdb-nodes.crt', 'damaged', /graphdb-nodes\.crt must hold a certificate of/],
    ]);
    expect(check(own).every(({ outcome }) => outcome === 'kept')).toBe(true);
  });

  test('gets no secrets of an external Dgraph, and is refused without them by name', () => {
    const theirs = (graphdb: string) =>
      definitionOf(`topology: distributed\ngraph: dgraph\ngraphdb: { url: "http://db:8080", ${graphdb} }\n`);
    expect(() => check(theirs('token: false'))).not.toThrow();
    for (const [file, setting] of [
      ['password', 'user: us'],
      ['token', 'token: true'],
    ] as const) {
      const missing = `secrets/graphdb-${file}.key is missing, and graphdb.${setting} in svc.yaml needs it.`;
      expect(() => check(theirs(setting))).toThrow(missing);
    }
    writeFileSync(fileOf('graphdb-password.key'), 'theirs');
    expect(() => check(theirs('user: us'))).not.toThrow();
  });

  test('is refused without the key of its mail provider or the password of its mail server, by name', () => {
    const mailBy = (mail: string) => definitionOf(`mail: { from: a@example.com, ${mail} }\n`);
    const provider = mailBy('provider: provider_a, url: "https://mail.example.com"');
    const ofUser = mailBy('provider: smtp, smtp: { host: mail.example.com, user: us }');
    expect(() => check(mailBy('provider: smtp, smtp: { host: mail.example.com }'))).not.toThrow();
    for (const [settings, setting] of [
      [provider, 'mail.provider: provider_a'],
      [ofUser, 'mail.smtp.user: us'],
    ] as const) {
      const message = `secrets/mail.key is missing, and ${setting} in svc.yaml needs it.`;
      expect(() => check(settings)).toThrow(expect.objectContaining({ code: 'not_found', message }));
    }
    writeFileSync(fileOf('mail.key'), 'theirs');
    for (const settings of [provider, ofUser]) expect(() => check(settings)).not.toThrow();
  });

  test('is refused half of the signing pair', () => {
    rmSync(fileOf('jwt-private.pem'));
    const message = 'secrets/jwt-public.pem must hold the public half of secrets/jwt-private.pem.';
    expect(() => check()).toThrow(expect.objectContaining({ code: 'forbidden', message }));
  });
});
