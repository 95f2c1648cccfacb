import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createInstallation } from '../../stack/operations/create-installation.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { canMount } from '../../stack/test/small-disk.ts';
import { runSvc, svcFile } from './run-svc.ts';

// A test runs svc up to twelve times.
vi.setConfig({ testTimeout: 120_000 });

/** Mistakes that a person makes with folders, files and the environment: each message, and the repair that it names. */
const dir = folderOfEachTest();
const svc = (line: string, env: Record<string, string> = {}) => runSvc(line.split(' '), { cwd: dir(), env });

describe('a folder without an installation', () => {
  const commands = ['up', 'status', 'server list', 'keys create laptop', 'config check', 'destroy'];

  test.each(commands)('svc %s says where it looked, and how to make one', async (command) => {
    expect(await svc(command)).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: `Error: No installation was found: neither "${dir()}" nor a folder above it holds a svc.yaml, and there is no ./svc.\nCreate one here with svc init, or name its folder with --dir or SVC_DIR. List all: svc status --all\n`,
    });
    await svc('init --yes');
    expect((await svc('config check')).code).toBe(0);
  });

  test('a folder in the place of svc.yaml', async () => {
    mkdirSync(join(dir(), 'svc.yaml'));
    const { code, stderr } = await svc('up');
    expect([code, stderr]).toEqual([
      1,
      `Error: "${dir()}/svc.yaml" is a folder, and it must be a file.\nMove that folder away, and put back the file.\n`,
    ]);
  });

  test.each(['up', 'status --dir svc'])('svc %s: a file in the place of the folder', async (line) => {
    writeFileSync(join(dir(), 'svc'), '');
    const { code, stderr } = await svc(line);
    expect([code, stderr]).toEqual([
      1,
      `Error: "${dir()}/svc" is a file, and an installation is a folder.\nMove that file away, or name another folder with --dir or SVC_DIR.\n`,
    ]);
    rmSync(join(dir(), 'svc'));
    expect((await svc('init --yes')).code).toBe(0);
  });

  test('the file of an installation in the place of its folder', async () => {
    await svc('init --yes');
    const { code, stderr } = await svc('config check --dir svc/svc.yaml');
    expect([code, stderr]).toEqual([
      1,
      `Error: "${dir()}/svc/svc.yaml" is a file, and an installation is a folder.\nName the folder that holds the file.\n`,
    ]);
  });
});

describe('a file that does not exist', () => {
  /** As a shell runs the command: Node reads words that stand behind its program, too. */
  const run = (line: string) => {
    const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, HOME: dir() };
    const { status, stdout, stderr } = spawnSync(svcFile, line.split(' '), { cwd: dir(), env, encoding: 'utf8' });
    return { code: status, stdout, stderr: stderr.split('\n').slice(0, 2) };
  };
  const unread = (file: string, path = 'none') => [
    `Error: ${file} cannot be read: it does not exist.`,
    `Correct the path. It leads to "${join(dir(), path)}".`,
  ];
  const nodesOwn = (flag: string) => [
    `Error: ${flag} is a flag of Node, and not of this command.`,
    'Did you mean --variable-file none?',
  ];

  test.each<[string, () => readonly string[]]>([
    ['server add x --env-file none -- node x.js', () => nodesOwn('--env-file')],
    ['server add x --env-file=none -- node x.js', () => nodesOwn('--env-file')],
    ['runtime start --env-file-if-exists none', () => nodesOwn('--env-file-if-exists')],
    ['server add x --variable-file none -- node x.js', () => unread('--variable-file "none"')],
    ['server add x --url http://127.0.0.1:9 --header-file none', () => unread('--header-file "none"')],
    ['server update x --variable-file none', () => unread('--variable-file "none"')],
    ['server import none', () => unread(`"${dir()}/none"`)],
    ['skill create x --instructions none', () => unread('--instructions "none"')],
    ['tool call x/y --input none', () => unread('--input "none"')],
    ['file add x none', () => unread('"none"')],
    ['runtime start --variable-file none', () => unread('--variable-file "none"')],
    ['keys test --key-file none', () => unread('--key-file "none"')],
    ['backup one.gz --with-secrets --passphrase-file none', () => unread('--passphrase-file "none"')],
    [
      'skill import none',
      () => ['Error: "none" holds no SKILL.md, so it is not the folder of a skill.', 'Name a folder with a SKILL.md.'],
    ],
  ])('svc %s names the file and the repair', async (line, told) => {
    await createInstallation({ dir: join(dir(), 'svc') });
    expect(run(line)).toEqual({ code: 2, stdout: '', stderr: told() });
  });
});

describe('svc.yaml as editors leave it', () => {
  let file = '';
  beforeEach(async () => {
    ({ definitionFile: file } = (await createInstallation({ dir: join(dir(), 'svc') })).installation);
  });
  const changed = (change: (text: string) => string | Buffer) =>
    writeFileSync(file, change(readFileSync(file, 'utf8')));

  test.each<[string, (text: string) => string]>([
    ['a mark of byte order', (text) => `\ufeff${text}`],
    ['line ends of Windows', (text) => text.replaceAll('\n', '\r\n')],
    ['no last line end', (text) => text.trimEnd()],
  ])('%s: is read as before', async (_, change) => {
    changed(change);
    expect(await svc('config check')).toMatchObject({ code: 0, stdout: `${file} is right.\n` });
  });

  test.each<[string, (text: string) => string | Buffer, string]>([
    ['nothing', () => '', ' is empty: it holds no settings.\nPut back a copy of the file.\n'],
    ['comments alone', () => '# mine\n', ' is empty: it holds no settings.\nPut back a copy of the file.\n'],
    [
      'UTF-16',
      (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
      ' is not text in UTF-8.\nSave it as UTF-8 in an editor, or put back a copy of the file.\n',
    ],
    [
      'a tab',
      (text) => text.replace(/^ {2}backend/m, '\tbackend'),
      /:\d+:1 A tab indents this line\. Use spaces\.\n/.source,
    ],
    [
      'no space after a colon',
      (text) => text.replace(/^topology: /m, 'topology:'),
      /:\d+:1 This line needs a colon and a space, as in name: value\.\n/.source,
    ],
    ['a name twice', (text) => `${text}\nname: again\n`, /:\d+:1 The name "name" is used twice\.\n/.source],
    ['a capital letter', (text) => text.replace(/^graph:/m, 'Graph:'), '"Graph" is not a field. Did you mean "graph"?'],
  ])('%s: is refused with the repair, by each command that reads it', async (_, change, told) => {
    changed(change);
    for (const line of ['config check', 'up', 'status']) {
      const { code, stdout, stderr } = await svc(line);
      expect([line, code, stdout]).toEqual([line, 2, '']);
      expect(stderr).toMatch(new RegExp(told.startsWith(' ') || told.startsWith('"') ? escaped(told) : told));
    }
  });
});

describe('an environment without', () => {
  beforeEach(() => createInstallation({ dir: join(dir(), 'svc') }));
  const lines = ['config check', 'status', 'doctor', 'server import --from cursor', 'connect --client json', '--help'];
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1' };
  const missing = 'missing-home';
  const runWith = (line: string, given: Record<string, string>) => {
    const args = [svcFile, ...line.split(' ')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir(), env: given, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };

  test.each<[string, Record<string, string>]>([
    ['HOME', {}],
    ['a folder at HOME', { HOME: missing }],
    ['a terminal, a language and a home', { TERM: '', LANG: '', HOME: '' }],
    ['UTF-8', { LC_ALL: 'C', LANG: 'POSIX', HOME: '/tmp' }],
    ['a known time zone', { TZ: 'Nowhere/At_All', HOME: '/tmp' }],
  ])('%s: every command answers as always', (_, told) => {
    // Programs that are asked for their version may create a missing home.
    const given = told.HOME === missing ? { ...told, HOME: join(dir(), missing) } : told;
    for (const line of lines) {
      const usual = runWith(line, { ...env, HOME: dir() });
      const { code, stderr } = runWith(line, { ...env, ...given });
      expect([line, code, stderr]).toEqual([line, usual.code, usual.stderr]);
    }
  });

  test.skipIf(process.geteuid?.() !== 0)('a home that another user may read: no words of a library', async () => {
    const home = join(dir(), 'home');
    mkdirSync(join(home, '.local/share/svc'), { recursive: true });
    chmodSync(home, 0o700);
    chmodSync(dir(), 0o755);
    const words = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, svcFile, 'config', 'docs'];
    const { status, stderr } = spawnSync('setpriv', words, { cwd: '/', env: { ...env, HOME: home }, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe.skipIf(!canMount)('a file system that is read-only', () => {
  let folder = '';
  afterAll(() => void spawnSync('umount', ['-l', folder]));

  test('commands that only look still answer, and the others name the repair', async () => {
    folder = join(dir(), 'svc');
    await createInstallation({ dir: folder });
    spawnSync('mount', ['--bind', folder, folder]);
    spawnSync('mount', ['-o', 'remount,ro,bind', folder]);
    for (const line of ['status --json', 'config check', 'config show', 'doctor --json']) {
      expect([line, (await svc(line)).stderr.includes('read-only')]).toEqual([line, false]);
    }
    for (const line of ['up', 'restart', 'backup', `destroy --confirm svc`]) {
      const { code, stderr } = await svc(line);
      expect([line, code, stderr]).toEqual([
        line,
        expect.any(Number),
        expect.stringMatching(/is read-only\.\nMake it writable\./),
      ]);
      expect(code).toBe(3);
    }
    spawnSync('umount', ['-l', folder]);
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
