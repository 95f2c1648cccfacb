import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test, vi } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

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

/** An empty installation beside, made anew. */
async function emptyOne(name: string) {
  const other = join(dir(), name);
  rmSync(other, { recursive: true, force: true });
  mkdirSync(other);
  const type = (...args: string[]) => runSvc(args, { cwd: other });
  expect(await type('init', '.', '--yes')).toMatchObject({ code: 0 });
  return { other, type };
}

const keyFile = () => join(dir(), 'secrets/encryption.key');

test('a backup of a running platform fills another one, where agents go on with their keys, sessions, tools and files', async () => {
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
  // One of them at a time: both have the usual ports.
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

test('a backup taken while records are written has all that were acknowledged before, and none without those before it', async () => {
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

test('what cannot be backed up or restored is refused by name, and changes nothing', async () => {
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
    [[archive, '--encryption-key-file', 'none'], "can't be read"],
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
  const log = join(other, 'data/graph.sqlite-wal');
  writeFileSync(log, '');
  expect((await type('restore', archive, ...key)).stderr).toContain('has data, and this version restores');
  rmSync(log);
  expect((await svc('restore', archive)).stderr).toContain('runs in this installation already');
  expect(await type('restore', archive, ...key)).toMatchObject({ code: 0 });
  expect((await type('restore', archive, ...key)).stderr).toContain(
    'has data, and this version restores into an empty',
  );
});

test('a restore that is killed at any moment leaves no data or all of it, and can be repeated', async () => {
  const { file, graph } = await json('backup', 'killed.backup.gz');
  const restore = ['restore', file, '--encryption-key-file', keyFile()];
  let isDone = false;
  const { other, type } = await emptyOne('killed');
  for (let timeoutMs = 150; timeoutMs < 450 && !isDone; timeoutMs += 15) {
    await runSvc(restore, { cwd: other, timeoutMs });
    isDone = existsSync(join(other, 'data/graph.sqlite'));
  }
  if (!isDone) expect(await type(...restore)).toMatchObject({ code: 0 });
  const { stdout } = await type('backup', 'after.backup.gz', '--json');
  expect(JSON.parse(stdout).graph).toEqual(graph);
  const refused = await type(...restore);
  expect(readFileSync(join(other, 'secrets/encryption.key'), 'utf8').trim()).toBe(
    readFileSync(keyFile(), 'utf8').trim(),
  );
  expect(refused.stderr).toContain('has data, and this version restores into an empty one only.');
});
