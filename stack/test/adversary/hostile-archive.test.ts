import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runSvc } from '../../../cli/test/run-svc.ts';
import { type Replacement, readReplacement, writeReplacement } from '../../operations/replace/replacement.ts';
import { installationIn } from '../../state/installation.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/**
 * An operator restores an attacker's archive. A command that hangs or takes much memory is killed, and has no exit
 * code.
 */
const patienceMs = 30_000;
const heap = '--max-old-space-size=200';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-archives-')));
const dir = join(folder, 'installation');
const file = join(folder, 'came.backup.gz');
const passphrase = join(folder, 'passphrase');
const mebibyte = 1024 * 1024;

beforeAll(async () => {
  expect(await runSvc(['init', dir, '--yes'], { cwd: folder })).toMatchObject({ code: 0 });
  writeFileSync(passphrase, 'correct horse battery staple\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const head = { svc: 'backup', format: 2, version: '9.9.9', createdAt: '2026-01-02T03:04:05.678Z', bus: 'exact' };
const lines = (...rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
/**
 * Packs the text behind a valid head. The head names the key of the installation's secrets, as an owner of archive and
 * installation would.
 */
const packed = (text: string | Buffer) =>
  gzipSync(Buffer.concat([Buffer.from(lines({ ...head, encryptionKey: '0'.repeat(16) })), Buffer.from(text)]), {
    level: 1,
  });
const age = 'age-encryption.org/v1\n';
const aged = (work: number) => {
  const header = `${age}-> scrypt ${'A'.repeat(22)} ${work}\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`;
  return Buffer.concat([Buffer.from(header), Buffer.alloc(64)]);
};
const section = (name: string, ...rows: readonly unknown[]) => packed(lines({ section: name }, ...rows));
const filling = () => Buffer.alloc(400 * mebibyte, 'x');

test.each<[string, () => Buffer, string?]>([
  ['a line that never ends', () => packed(filling())],
  ['a line of nested lists', () => packed(`${'['.repeat(8 * mebibyte)}\n`)],
  ['a session for each subject of the bus', () => section('sessions', ['>', '', 1])],
  ['a record beyond what the bus takes', () => section('usage', ['A'.repeat(mebibyte)])],
  ['a secret that would be another file', () => section('secrets', ['../../x', 'y'])],
  ['a secret without end', () => section('secrets', ['mailKey', 'x'.repeat(mebibyte)])],
  ['a file by a path', () => section('files', ['../../../etc/passwd', 1])],
  ['a section of its own', () => section('__proto__', ['x'])],
  ['sections in another order', () => section('files', { section: 'usage' })],
  [
    'an encrypted file whose header never ends',
    () => Buffer.concat([Buffer.from(age), filling()]),
    'is cut, or was changed',
  ],
  ['a key that takes a gigabyte', () => aged(20), 'work factor 20'],
  ['a passphrase of somebody else', () => aged(14), 'The passphrase does not open'],
])('%s is refused by name, in bounded memory, and changes nothing', async (_what, make, words = 'was changed') => {
  writeFileSync(file, make());
  await refused(file, words);
});

test('anything but a file is refused: a device, a pipe, a link to a secret', async () => {
  const pipe = join(folder, 'pipe');
  const link = join(folder, 'link');
  spawnSync('mkfifo', [pipe]);
  symlinkSync(join(dir, 'secrets/encryption.key'), link);
  for (const one of ['/dev/zero', pipe, folder, link]) await refused(one, 'is not a backup of this platform');
});

async function refused(archive: string, words: string): Promise<void> {
  const secrets = () =>
    readdirSync(join(dir, 'secrets')).map((name) => readFileSync(join(dir, 'secrets', name), 'utf8'));
  const before = secrets();
  const args = ['restore', archive, '--dir', dir, '--passphrase-file', passphrase];
  const run = await runSvc(args, { cwd: folder, env: { NODE_OPTIONS: heap }, timeoutMs: patienceMs });
  expect(run.stderr).toContain(words);
  expect(run.stderr).toContain(archive);
  expect(run.stderr).not.toContain(before[0]?.trim());
  expect([1, 2, 3, 4, 5]).toContain(run.code);
  expect(readdirSync(join(dir, 'data')).filter((name) => /graph|bus|blobs|restoring/.test(name))).toEqual([]);
  expect(secrets()).toEqual(before);
}

const side = { topology: 'embedded', graph: 'sqlite', engine: 'process' } as const;
const record: Replacement = {
  ...{ command: 'restore', step: 'confirming', from: side, to: side, startedAt: '2026-11-25T23:51:47.120Z' },
  ...{ kept: 'data/before-restore-2026-11-25T23-51-47Z', folders: ['runtime', 'caddy-2'], wasRunning: false },
  replaced: { bus: true, graph: true, blobs: true },
  archived: { bus: false, graph: true, blobs: true },
  elsewhere: { left: null, filled: null },
  moved: [],
};

test.each<[string, Partial<Replacement>]>([
  ['a folder outside of the installation', { kept: '../other' }],
  ['an absolute folder', { kept: '/etc' }],
  ['all data', { kept: 'data' }],
  ['a folder that leads out', { kept: 'data/before-restore-x/../../..' }],
  ["a part's folder that leads out", { folders: ['../../other'] }],
  ['a time with control characters', { startedAt: '2026\u001b[2J' }],
])('a record of a restore with %s is refused', (_what, change) => {
  const installation = installationIn(dir);
  writeReplacement(installation, record);
  expect(readReplacement(installation)).toEqual(record);
  writeReplacement(installation, { ...record, ...change });
  expect(() => readReplacement(installation)).toThrow('"state/replacement.json" is damaged, or of another version.');
  rmSync(join(installation.stateDir, 'replacement.json'));
});
