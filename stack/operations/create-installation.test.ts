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
  test('has its folders and secrets, closed to others', async () => {
    const { dir, secretsDir, dataDir, stateDir, logsDir } = await create();
    for (const folder of [secretsDir, dataDir, stateDir, logsDir]) expect(modeOf(folder), folder).toBe('700');
    expect(modeOf(join(dir, 'svc.yaml'))).toBe('644');
    const secrets = readdirSync(secretsDir).sort();
    const keys = ['encryption.key', 'jwt-private.pem', 'jwt-public.pem', 'system-remote-mcp.key', 'system-runtime.key'];
    expect(secrets).toEqual(['.gitignore', ...keys]);
    for (const name of secrets) expect(modeOf(join(secretsDir, name)), name).toBe('600');
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

  test('holds no secret in svc.yaml', async () => {
    const { dir, secretsDir } = await create();
    const definition = readFileSync(join(dir, 'svc.yaml'), 'utf8');
    for (const name of readdirSync(secretsDir).filter((file) => file !== '.gitignore')) {
      expect(definition).not.toContain(readFileSync(join(secretsDir, name), 'utf8').trim());
    }
  });

  test('lists all that it created', async () => {
    const paths = readManifest(await create()).map(({ path }) => path);
    const made = ['svc.yaml', 'secrets', 'secrets/.gitignore', 'secrets/encryption.key', 'data', 'state', 'logs'];
    expect(paths).toEqual(expect.arrayContaining(made));
  });

  test('does not begin with a wrong choice', async () => {
    await expect(createInstallation({ dir: join(root, 'x'), ownerEmail: 'nobody' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'The owner must be given by an e-mail address, not "nobody".',
    });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('git', () => {
  const git = (...words: string[]) => execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' });
  const taken = () => {
    git('add', '--all');
    return git('ls-files').trim().split('\n');
  };

  test('includes only svc.yaml of an installation, whatever .gitignore the project has', async () => {
    git('init', '--quiet');
    writeFileSync(join(root, '.gitignore'), 'node_modules\n');
    const { installation } = await createInstallation({ dir: root });
    for (const folder of [installation.dataDir, installation.stateDir, installation.logsDir])
      writeFileSync(join(folder, 'something'), 'x');
    expect(taken()).toEqual(['.gitignore', 'svc.yaml']);
  });

  test('nor of an existing one', async () => {
    git('init', '--quiet');
    const installation = await create();
    for (const folder of [installation.secretsDir, installation.stateDir]) rmSync(join(folder, '.gitignore'));
    const detail = 'git did not ignore it; it does now';
    const repaired = ['state/', 'secrets/'].map((path) => ({ path, outcome: 'repaired', detail }));
    expect(ensureFolders(installation, embedded).filter(({ outcome }) => outcome !== 'kept')).toEqual(repaired);
    expect(taken()).toEqual(['acme/svc/svc.yaml']);
  });
});

describe('again', () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await create();
  });

  test('existing files are not changed, and each is reported as kept', async () => {
    const before = contentOf(installation);
    const again = await createInstallation({ dir: installation.dir, ownerEmail: 'other@example.com' });
    expect(contentOf(installation)).toEqual(before);
    expect(new Set(again.steps.map(({ outcome }) => outcome))).toEqual(new Set(['kept']));
  });

  test('only missing files are made', async () => {
    const before = contentOf(installation);
    rmSync(join(installation.secretsDir, 'system-runtime.key'));
    const { steps } = await createInstallation({ dir: installation.dir });
    const created = steps.filter(({ outcome }) => outcome === 'created').map(({ path }) => path);
    expect(created).toEqual(['secrets/system-runtime.key']);
    const after = contentOf(installation);
    expect(after['system-runtime.key']).not.toBe(before['system-runtime.key']);
    expect({ ...after, 'system-runtime.key': '' }).toEqual({ ...before, 'system-runtime.key': '' });
  });

  test('drafts of a killed process are removed, and drafts of a running one are not', () => {
    const left = join(installation.secretsDir, 'encryption.key.4194305-0123abcd.draft');
    const own = join(installation.stateDir, `ports.json.${process.pid}-0123abcd.draft`);
    for (const file of [left, own]) writeFileSync(file, 'x');
    ensureFolders(installation, embedded);
    expect([existsSync(left), existsSync(own)]).toEqual([false, true]);
  });

  test('modes that are too open are closed, with a notice', () => {
    chmodSync(installation.secretsDir, 0o755);
    const [key, mail] = ['encryption.key', 'mail.key'].map((name) => join(installation.secretsDir, name));
    chmodSync(key ?? '', 0o644);
    writeFileSync(mail ?? '', 'secret');
    chmodSync(mail ?? '', 0o664);
    const repaired = ensureFolders(installation, embedded).filter(({ outcome }) => outcome === 'repaired');
    expect(repaired.map(({ path, detail }) => `${path} ${detail}`)).toEqual([
      'secrets/ changed its mode from 0755 to 0700',
      'secrets/encryption.key changed its mode from 0644 to 0600',
      'secrets/mail.key changed its mode from 0664 to 0600',
    ]);
    expect(modeOf(key ?? '')).toBe('600');
  });
});

describe('secrets that cannot be right are refused before anything starts', () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await create();
  });
  const fileOf = (name: string) => join(installation.secretsDir, name);
  const check = (definition = embedded) => ensureFolders(installation, definition);

  /** Each of these texts in its file is refused by the rule. */
  function expectRefused(definition: Definition, wrong: readonly (readonly [string, string, RegExp])[]) {
    for (const [name, text, rule] of wrong) {
      const before = readFileSync(fileOf(name));
      writeFileSync(fileOf(name), text);
      const refusal = expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(rule) });
      expect(() => check(definition), name).toThrow(refusal);
      writeFileSync(fileOf(name), before);
    }
  }

  test('another encryption key than the data was encrypted with, and none is made beside data', () => {
    recordFingerprint(installation);
    const file = fileOf('encryption.key');
    const key = readFileSync(file);
    writeFileSync(file, `${'ab'.repeat(32)}\n`);
    expect(() => check()).toThrow(
      /encryption\.key \(fingerprint [0-9a-f]{16}\) is not the key that data\/ is encrypted with \(fingerprint [0-9a-f]{16}\)/,
    );
    rmSync(file);
    const missing = /encryption\.key is missing, and data\/ is encrypted with it/;
    expect(() => check()).toThrow(missing);
    expect(existsSync(file)).toBe(false);
    // The right key is taken again.
    writeFileSync(file, key);
    expect(() => check()).not.toThrow();
  });

  test('damaged files, each named with its rule', () => {
    recordFingerprint(installation);
    expectRefused(embedded, [
      ['encryption.key', 'damaged', /encryption\.key must hold a 64-character hex string/],
      ['system-runtime.key', 'damaged', /system-runtime\.key must hold a key that starts with SYK_/],
      ['jwt-private.pem', 'damaged', /jwt-private\.pem must hold an Ed25519 private key/],
      ['jwt-public.pem', 'damaged', /jwt-public\.pem must hold the public half/],
    ]);
  });

  test('of a Dgraph of our own: each named with its rule, and made where it is missing', () => {
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

  test('of an external Dgraph: nothing is made, and missing files are named', () => {
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

  test('half of the signing pair', () => {
    rmSync(fileOf('jwt-private.pem'));
    const message = 'secrets/jwt-public.pem must hold the public half of secrets/jwt-private.pem.';
    const refusal = expect.objectContaining({ code: 'forbidden', message });
    expect(() => check()).toThrow(refusal);
  });
});
