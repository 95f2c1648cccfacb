import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test, vi } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { canMount, SmallDisk } from '../../stack/test/small-disk.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const { dir, svc } = withRunningPlatform();
const json = async (...args: string[]) => {
  const { stdout, stderr } = await svc(...args, '--json');
  return stdout === '' ? expect.fail(stderr) : JSON.parse(stdout);
};
let key = '';

beforeAll(async () => {
  await svc('server', 'add', 'demo', '--', process.execPath, demo);
  await svc('skill', 'create', 'sums', '--tool', 'demo/add');
  writeFileSync(join(dir(), 'forms.md'), '# Forms\n');
  await svc('file', 'add', 'sums', 'forms.md');
  await svc('role', 'create', 'Counting', '--skill', 'sums');
  key = (await json('keys', 'create', '--name', 'agent')).key;
});

/** The factor between the times before two kills: a busy machine takes many times as long. */
const growth = 1.25;

/** A new, empty installation beside the first. */
async function emptyOne(name: string) {
  const other = join(dir(), name);
  rmSync(other, { recursive: true, force: true });
  mkdirSync(other);
  const type = (...args: string[]) => runSvc(args, { cwd: other });
  expect(await type('init', '.', '--yes')).toMatchObject({ code: 0 });
  return { other, type };
}

const keyFile = () => join(dir(), 'secrets/encryption.key');

test('a backup of a running platform fills another one, where agents keep keys, sessions, tools and files', async () => {
  const session = await openSession(`${(await json('status')).urls.mcp}`, key);
  const made = await json('backup', 'whole.backup.gz');
  expect(made).toMatchObject({
    file: join(dir(), 'whole.backup.gz'),
    files: { count: 1, bytes: 8 },
    bus: 'approximate',
  });
  expect(made.sessions).toBe(1);
  const { other, type } = await emptyOne('other');
  const restored = await type('restore', made.file, '--encryption-key-file', keyFile(), '--json');
  expect(JSON.parse(restored.stdout)).toMatchObject({ state: 'restored', graph: made.graph, files: made.files });
  const { graph, usage, sessions } = made;
  const again = JSON.parse((await type('backup', 'again.backup.gz', '--json')).stdout);
  expect(again).toMatchObject({ graph, usage, sessions, bus: 'exact' });
  // Only one of them runs at a time, because both have the usual ports.
  await svc('down');
  try {
    expect(await type('up')).toMatchObject({ code: 0 });
    const { mcp } = JSON.parse((await type('status', '--json')).stdout).urls;
    const { body, text } = await send(mcp, {
      key,
      session,
      body: rpc('tools/call', { name: 'load_skill', arguments: { skill: 'sums' } }),
    });
    expect(body?.result?.isError ?? false, text).toBe(false);
    expect(text).toContain('forms.md');
    const { files } = JSON.parse((await type('file', 'list', 'sums', '--json')).stdout);
    expect(await (await fetch(files[0].url)).text()).toBe('# Forms\n');
  } finally {
    await type('down');
    rmSync(other, { recursive: true });
    expect(await svc('up')).toMatchObject({ code: 0 });
  }
});

test('a backup under load has every record acknowledged before it, and no record without its predecessors', async () => {
  let acknowledged = -1;
  let isWriting = true;
  const writing = (async () => {
    for (let next = 0; isWriting; next++) {
      expect(await svc('skill', 'create', `under-load-${next}`)).toMatchObject({ code: 0 });
      acknowledged = next;
    }
  })();
  await expect.poll(() => acknowledged, { timeout: 30_000 }).toBeGreaterThan(2);
  const before = acknowledged;
  const { code } = await svc('backup', 'load.backup.gz');
  isWriting = false;
  await writing;
  expect(code).toBe(0);
  const text = gunzipSync(readFileSync(join(dir(), 'load.backup.gz'))).toString('utf8');
  const inside = [...text.matchAll(/\{"name":"under-load-(\d+)"/g)]
    .map(([, number]) => Number(number))
    .sort((a, b) => a - b);
  expect(inside).toEqual(inside.map((_, index) => index));
  expect(inside.length).toBeGreaterThan(before);
});

test('an encrypted backup has the keys of the platform, so that another one needs only the passphrase', async () => {
  const right = join(dir(), 'passphrase');
  const wrong = join(dir(), 'wrong-passphrase');
  writeFileSync(right, 'correct horse battery staple\n');
  writeFileSync(wrong, 'correct horse battery stable\n');
  const secret = (of: string, name: string) => readFileSync(join(of, 'secrets', name), 'utf8').trim();
  const made = await json('backup', 'secret.backup.gz.age', '--with-secrets', '--passphrase-file', right);
  expect(made).toMatchObject({ secrets: true, files: { count: 1 } });
  const { other, type } = await emptyOne('with-secrets');
  const own = secret(other, 'encryption.key');
  const refused: readonly (readonly [args: string[], words: string])[] = [
    [[], 'needs its passphrase, and there is no terminal'],
    [['--passphrase-file', wrong], `The passphrase does not open "${made.file}".`],
    [['--passphrase-file', 'none'], 'none'],
  ];
  for (const [args, words] of refused) {
    const { code, stderr } = await type('restore', made.file, ...args);
    expect(stderr).toContain(words);
    expect(code).not.toBe(0);
    expect(existsSync(join(other, 'data/graph.sqlite'))).toBe(false);
    expect(secret(other, 'encryption.key')).toBe(own);
  }
  expect(await type('restore', made.file, '--passphrase-file', right)).toMatchObject({ code: 0 });
  const same = ['encryption.key', 'jwt-private.pem', 'system-remote-mcp.key', 'system-runtime.key'];
  for (const name of same) expect(secret(other, name)).toBe(secret(dir(), name));
  // The public key is derived, and svc accepts the pair.
  expect((await type('init', '.', '--yes')).code).toBe(0);
  expect(secret(other, 'jwt-public.pem')).toBe(secret(dir(), 'jwt-public.pem'));
  expect((await type('backup', 'again.gz', '--json')).stdout).toContain(JSON.stringify(made.graph));
});

test('an encrypted backup is refused without a strong passphrase', async () => {
  const short = join(dir(), 'short');
  writeFileSync(short, 'too short\n');
  const refused: readonly (readonly [args: string[], words: string])[] = [
    [['--with-secrets'], 'there is no terminal to ask at'],
    [['--with-secrets', '--passphrase-file', short], 'fewer than 12 characters'],
    [['--passphrase-file', short], '--with-secrets'],
  ];
  for (const [args, words] of refused) {
    const { code, stderr } = await svc('backup', 'refused.age', ...args);
    expect(stderr).toContain(words);
    expect(code).not.toBe(0);
    expect(existsSync(join(dir(), 'refused.age'))).toBe(false);
  }
});

test.skipIf(!canMount)('a backup onto a disk without room for the data is refused before it begins', async () => {
  using disk = SmallDisk.mount(join(dir(), 'small'), 1);
  disk.fill();
  const { code, stderr } = await svc('backup', 'small/refused.gz');
  expect(stderr).toMatch(/"[^"]*small" has 0 KB left, and a backup needs up to [\d.]+ [KM]B\./);
  expect(code).not.toBe(0);
  expect(readdirSync(disk.folder)).toEqual(['ballast']);
});

test('an impossible backup or restore is refused by name and changes nothing', async () => {
  writeFileSync(join(dir(), 'there.gz'), '');
  expect((await svc('backup', 'there.gz')).stderr).toContain('is there already, and a backup replaces nothing.');
  expect((await svc('backup', 'no/such.gz')).stderr).toContain('There is no folder');
  expect((await svc('backup', '/proc/none.gz')).stderr).toContain('"/proc/none.gz.part" can\'t be written');
  symlinkSync('nowhere', join(dir(), 'link.gz.part'));
  expect((await svc('backup', 'link.gz')).stderr).toContain('link.gz.part" is there already');
  expect(readlinkSync(join(dir(), 'link.gz.part'))).toBe('nowhere');
  await svc('backup', 'refused.backup.gz');
  const whole = readFileSync(join(dir(), 'refused.backup.gz'));
  const cut = join(dir(), 'cut.gz');
  writeFileSync(cut, whole.subarray(0, whole.length - 9));
  const { other, type } = await emptyOne('refusing');
  expect((await type('backup')).stderr).toContain('has no data yet');
  const archive = join(dir(), 'refused.backup.gz');
  const key = ['--encryption-key-file', keyFile()];
  const wrong: readonly (readonly [args: string[], words: string])[] = [
    [[cut, ...key], 'is cut: it ends before its last line.'],
    [[archive], 'are encrypted with another key than secrets/encryption.key'],
    [[archive, '--encryption-key-file', join(other, 'secrets/encryption.key')], 'is not the key that the secrets'],
    [[archive, '--encryption-key-file', 'none'], 'cannot be read'],
    [['none.gz', ...key], 'There is no file'],
    [['/dev/zero', ...key], 'is not a backup of this platform.'],
  ];
  const own = readFileSync(join(other, 'secrets/encryption.key'), 'utf8');
  for (const [args, words] of wrong) {
    const { code, stderr } = await type('restore', ...args);
    expect(stderr).toContain(words);
    expect(code).not.toBe(0);
    expect(existsSync(join(other, 'data/graph.sqlite'))).toBe(false);
    expect(existsSync(join(other, 'data/restoring'))).toBe(false);
    expect(readFileSync(join(other, 'secrets/encryption.key'), 'utf8')).toBe(own);
  }
  expect((await svc('restore', archive)).stderr).toContain('The name of the installation must be typed.');
  expect((await svc('restore', archive, '--over', 'another')).stderr).toContain('not "another"');
  expect((await svc('restore')).stderr).toContain('needs one of FILE, --confirm and --undo');
  expect((await svc('restore', '--undo', '--yes')).stderr).toContain('There is no restore that waits');
  expect((await json('status')).state).toBe('running');
  // SQLite would apply the log of a removed database to the restored one.
  writeFileSync(join(other, 'data/graph.sqlite-wal'), '');
  expect(await type('restore', archive, ...key)).toMatchObject({ code: 0 });
  expect((await type('restore', archive, ...key)).stderr).toContain('Without a terminal, add --over');
});

test('a backup is refused if the bytes of a file are missing', async () => {
  const [blobs, away] = [join(dir(), 'data/blobs'), join(dir(), 'blobs-away')];
  renameSync(blobs, away);
  mkdirSync(blobs);
  const { code, stderr } = await svc('backup', 'without.backup.gz');
  rmSync(blobs, { recursive: true });
  renameSync(away, blobs);
  expect(code).not.toBe(0);
  expect(stderr).toContain('The file "forms.md" of a skill is recorded, and its bytes are missing.');
  expect(existsSync(join(dir(), 'without.backup.gz'))).toBe(false);
});

test('a restore over data keeps the earlier data until it is undone or confirmed', async () => {
  const first = await json('backup', 'first.backup.gz');
  await svc('skill', 'create', 'since-the-backup');
  const skills = async () => (await json('skill', 'list')).skills.map(({ name }: { name: string }) => name);
  const before = await skills();
  const { name } = readDefinition(join(dir(), 'svc.yaml'));
  const over = ['restore', first.file, '--over', name];
  const restored = await json(...over);
  expect(restored).toMatchObject({ state: 'restored', graph: first.graph });
  expect(restored.kept).toMatch(/^data\/before-restore-/);
  expect((await json('status')).state).toBe('running');
  expect(await skills()).toEqual(before.filter((skill: string) => skill !== 'since-the-backup'));
  expect((await svc(...over)).stderr).toContain('The restore is not confirmed yet');
  expect((await svc('move', '--undo', '--yes')).stderr).toContain('There is no move that waits');
  const undone = await svc('restore', '--undo', '--yes');
  expect(undone.stdout).toBe('Undone: the platform has its data from before the restore again.\n');
  expect(undone.stderr).toContain('skill: 1 removed');
  expect([await skills(), existsSync(join(dir(), restored.kept))]).toEqual([before, false]);
  const again = await json(...over);
  expect(await json('restore', '--confirm')).toEqual({ state: 'confirmed', kept: again.kept });
  expect(existsSync(join(dir(), again.kept))).toBe(false);
  expect((await svc('restore', '--undo', '--yes')).stderr).toContain('There is no restore that waits');
});

test('a restore with another key installs that key, and going back restores the earlier key', async () => {
  const { file } = await json('backup', 'key.backup.gz');
  const { other, type } = await emptyOne('keys');
  const own = () => readFileSync(join(other, 'secrets/encryption.key'), 'utf8').trim();
  const first = own();
  await svc('down');
  try {
    expect(await type('up')).toMatchObject({ code: 0 });
    await type('down');
    const { name } = readDefinition(join(other, 'svc.yaml'));
    expect(await type('restore', file, '--over', name, '--encryption-key-file', keyFile())).toMatchObject({ code: 0 });
    expect(own()).toBe(readFileSync(keyFile(), 'utf8').trim());
    expect(await type('restore', '--undo', '--yes')).toMatchObject({ code: 0 });
    expect(own()).toBe(first);
    expect(await type('up')).toMatchObject({ code: 0 });
  } finally {
    await type('down');
    await svc('up');
  }
});

test('a restore over data that is killed at any moment loses nothing', async () => {
  const { file } = await json('backup', 'over.backup.gz');
  const { other, type } = await emptyOne('over');
  const name = readDefinition(join(other, 'svc.yaml')).name;
  expect(await type('restore', file, '--encryption-key-file', keyFile())).toMatchObject({ code: 0 });
  const digest = async (to: string) => JSON.parse((await type('backup', to, '--json')).stdout).graph[0].digest;
  const before = await digest('0.gz');
  const graph = readFileSync(join(other, 'data/graph.sqlite'));
  writeFileSync(join(other, 'data/graph.sqlite'), 'damaged');
  const damaged = await type('restore', file, '--over', name);
  expect([damaged.code, damaged.stderr]).toEqual([4, expect.stringContaining("present data can't be kept")]);
  expect(damaged.stderr).toContain('outside of data/: data/bus.sqlite data/graph.sqlite');
  expect(readFileSync(join(other, 'data/graph.sqlite'), 'utf8')).toBe('damaged');
  writeFileSync(join(other, 'data/graph.sqlite'), graph);
  for (let timeoutMs = 150; ; timeoutMs = Math.ceil(timeoutMs * growth)) {
    const { code } = await runSvc(['restore', file, '--over', name], { cwd: other, timeoutMs });
    await type('restore', '--undo', '--yes');
    expect(await digest(`${timeoutMs}.gz`)).toBe(before);
    expect(readdirSync(join(other, 'data')).filter((one) => one.startsWith('before-'))).toEqual([]);
    if (code === 0) break;
  }
});

test('a restore that is killed at any moment leaves no data or all of it, and can be repeated', async () => {
  const { file, graph } = await json('backup', 'killed.backup.gz');
  const restore = ['restore', file, '--encryption-key-file', keyFile()];
  const { other, type } = await emptyOne('killed');
  for (let timeoutMs = 150; ; timeoutMs = Math.ceil(timeoutMs * growth)) {
    const { code, stderr } = await runSvc(restore, { cwd: other, timeoutMs });
    // A restore that is killed after its last step leaves everything, which only --over replaces.
    if (code === 0 || stderr.includes('must be typed')) break;
  }
  const { stdout } = await type('backup', 'after.backup.gz', '--json');
  expect(JSON.parse(stdout).graph).toEqual(graph);
  expect(readFileSync(join(other, 'secrets/encryption.key'), 'utf8').trim()).toBe(
    readFileSync(keyFile(), 'utf8').trim(),
  );
  expect(readdirSync(join(other, 'data')).filter((one) => one.startsWith('before-'))).toEqual([]);
});
