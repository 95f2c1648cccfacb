import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Platform, script } from './platform.ts';
import { canSandbox, kinds, sandboxing } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

const packageRoot = path.resolve(import.meta.dirname, '../../..');

interface Grounds {
  /** A folder outside of the platform with all files that the attacks need. */
  readonly dir: string;
  readonly env: Record<string, string>;
}

async function folderIn(dir: string, ...names: readonly string[]): Promise<string> {
  const folder = path.join(dir, ...names);
  await mkdir(folder, { recursive: true });
  return folder;
}

async function linkTo(dir: string, target: string): Promise<string> {
  const link = path.join(dir, 'link');
  await symlink(target, link);
  return link;
}

async function installationIn(dir: string, ...names: readonly string[]): Promise<string> {
  const folder = await folderIn(dir, ...names);
  await mkdir(path.join(folder, 'secrets'));
  await writeFile(path.join(folder, 'svc.yaml'), '');
  return folder;
}

async function withEnv({ dir, env }: Grounds, name: string, folder: Promise<string>): Promise<string> {
  env[name] = name === 'PATH' ? `${env.PATH}:${await folder}` : await folder;
  return dir;
}

/**
 * Working directories that no sandbox may write to, for any author; each is tried while every folder is named for
 * members.
 */
const attacks: readonly [string, string | RegExp, (grounds: Grounds) => string | Promise<string>][] = [
  ['is the installed package', 'is the installed package', () => packageRoot],
  ['lies in the installed package', 'is the installed package', () => path.join(packageRoot, 'templates')],
  [
    'holds the installed package',
    // The folder around a clone may also be a home, or hold an installation.
    /is the installed package|is a home|holds the installation/,
    () => path.dirname(packageRoot),
  ],
  ['is the home of root', 'is a home', () => '/root'],
  ['is the home of the user', 'is a home', () => homedir()],
  [
    'lies in a hidden folder of a home',
    'holds keys or settings',
    () => folderIn(homedir(), '.svc-test-hidden', 'deep'),
  ],
  ['holds the homes of users', 'is a home', () => '/home'],
  ['is the state of services of the system', 'the system', () => '/var/lib'],
  ['holds it', 'the system', () => '/var'],
  ['holds a system folder by dots', 'the system', () => '/usr/../var/lib/../spool'],
  [
    'leads to the package by a link',
    'is the installed package',
    ({ dir }) => linkTo(dir, path.join(packageRoot, 'templates')),
  ],
  ['leads to a home by a link', 'is a home', ({ dir }) => linkTo(dir, homedir())],
  ['leads to the system by a link', 'the system', ({ dir }) => linkTo(dir, '/etc')],
  ['is another installation', 'the installation', ({ dir }) => installationIn(dir, 'other')],
  [
    'lies in another installation',
    'the installation',
    async ({ dir }) => folderIn(await installationIn(dir, 'other'), 'state'),
  ],
  [
    'holds another installation',
    'the installation',
    async ({ dir }) => path.dirname(await installationIn(dir, 'one', 'other')),
  ],
  [
    'holds a folder of the PATH',
    'programs that the platform runs',
    (grounds) => withEnv(grounds, 'PATH', folderIn(grounds.dir, 'project', 'node_modules', '.bin')),
  ],
  [
    'contains a missing folder of the PATH',
    'programs that the platform runs',
    (grounds) => withEnv(grounds, 'PATH', soon(grounds.dir)),
  ],
  [
    'lies in a virtual environment of the PATH',
    'programs that the platform runs',
    async (grounds) => {
      await withEnv(grounds, 'PATH', folderIn(grounds.dir, 'venv', 'bin'));
      await writeFile(path.join(grounds.dir, 'venv', 'pyvenv.cfg'), '');
      return folderIn(grounds.dir, 'venv', 'lib');
    },
  ],
  [
    'holds certificates that the platform trusts',
    'certificates',
    async (grounds) => {
      await withEnv(grounds, 'SSL_CERT_DIR', folderIn(grounds.dir, 'certificates'));
      return path.join(grounds.dir, 'certificates');
    },
  ],
];

async function soon(dir: string): Promise<string> {
  return path.join(dir, 'not-yet', 'bin');
}

async function openGrounds() {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-grounds-')));
  const env: Record<string, string> = { PATH: process.env.PATH ?? '' };
  return {
    dir,
    env,
    [Symbol.asyncDispose]: async () => {
      await rm(dir, { recursive: true, force: true });
      await rm(path.join(homedir(), '.svc-test-hidden'), { recursive: true, force: true });
    },
  };
}

describe.each(kinds)('in %s, a working directory', (_kind, { isThere, sandboxing, script }) => {
  test.runIf(isThere).each(attacks)('that %s is refused to operators and members', async (_name, why, attack) => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const cwd = await attack(grounds);
    const planted = path.join(cwd, `planted-by-a-test-${process.pid}`);
    // For a member the direct subfolder of a named folder is mounted, which is the folder itself here.
    const MCP_SERVER_MEMBER_FOLDERS = path.dirname(await realpath(cwd));
    const env = { ...grounds.env, ...sandboxing, MCP_SERVER_MEMBER_FOLDERS };
    await platform.startRuntime(env);
    for (const setBy of ['operator', 'member'] as const) {
      platform.assign({ one: { ...script('curious'), cwd } }, setBy);
      const { status, reason } = await platform.reported(
        'one',
        (report) => report.status === 'Connected' || report.reason?.code === 'folder_refused',
      );
      // If it were mounted, this would write.
      if (status === 'Connected') await platform.say('one', { tries: [['write', planted]] });
      const isPlanted = existsSync(planted);
      // An ordinary user may not even look into the home of root.
      if (isPlanted) await rm(planted);
      expect({ setBy, status, isPlanted }).toEqual({ setBy, status: 'Error', isPlanted: false });
      expect(reason?.message).toMatch(/^A sandbox may not write to the working directory ".*" of "one": /);
      expect(reason?.message).toMatch(why);
    }
  });

  test.runIf(isThere)('that is written with dots works, at its real path', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const cwd = await folderIn(grounds.dir, 'project');
    platform.assign({ one: { ...script('curious'), cwd: `${grounds.dir}/project/../project/` } });
    await platform.startRuntime(sandboxing);
    await platform.connected('one');
    expect(JSON.parse(await platform.say('one', { tries: [['write', 'made.txt']] }))).toEqual(['done']);
    expect(existsSync(path.join(cwd, 'made.txt'))).toBe(true);
  });

  test.runIf(isThere)('that is a project in a home works', async () => {
    await using platform = await Platform.open();
    const project = await mkdtemp(path.join(homedir(), 'svc-test-project-'));
    try {
      platform.assign({ one: { ...script('curious'), cwd: project } });
      await platform.startRuntime(sandboxing);
      await platform.connected('one');
      expect(JSON.parse(await platform.say('one', { tries: [['write', 'made.txt']] }))).toEqual(['done']);
      expect(existsSync(path.join(project, 'made.txt'))).toBe(true);
    } finally {
      await rm(project, { recursive: true });
    }
  });
});

test.runIf(canSandbox)('a folder that merely has a svc.yaml is not an installation', async () => {
  await using grounds = await openGrounds();
  await using platform = await Platform.open();
  const cwd = await folderIn(grounds.dir, 'project');
  await writeFile(path.join(cwd, 'svc.yaml'), 'kind: Service');
  platform.assign({ one: { ...script('curious'), cwd } });
  await platform.startRuntime(sandboxing);
  await platform.connected('one');
});
