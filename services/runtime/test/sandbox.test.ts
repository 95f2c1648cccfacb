import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createLook } from '../launchers/processes.ts';
import { Platform, script } from './platform.ts';
import { canSandbox, kinds, sandboxing } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

type Try = readonly [what: string, given?: string | number];

async function attempt(platform: Platform, name: string, ...tries: readonly Try[]): Promise<readonly string[]> {
  return JSON.parse(await platform.say(name, { tries }));
}

/** The files of an installation, with two projects beside it. */
async function openGrounds() {
  const stack = new AsyncDisposableStack();
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-sandbox-')));
  stack.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const place = (...parts: string[]) => path.join(dir, 'svc', ...parts);
  const project = path.join(dir, 'project');
  for (const folder of ['secrets', 'data', 'state']) await mkdir(place(folder), { recursive: true });
  for (const folder of [project, path.join(dir, 'beside')]) await mkdir(folder);
  for (const file of [
    'secrets/system.key',
    'data/graph.sqlite',
    'svc.yaml',
    '../project/notes.txt',
    '../beside/b.txt',
  ]) {
    await writeFile(place(file), `content of ${file}`);
  }
  const socket = place('state', 'control.sock');
  const control = createServer((connection) => connection.end()).listen(socket);
  await once(control, 'listening');
  stack.defer(() => new Promise<void>((resolve) => void control.close(() => resolve())));
  const hidden = ['secrets', 'data', 'state', 'svc.yaml'].map((name) => place(name)).join(':');
  return { dir, place, project, socket, hidden, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe.each(kinds)('in %s', (_kind, { isThere, sandboxing, script, answers }) => {
  const only = test.runIf(isThere);

  only(
    'everything of the platform, of other MCP servers and of the machine that is visible without a sandbox is hidden',
    async () => {
      await using grounds = await openGrounds();
      await using platform = await Platform.open();
      const bystander = spawn('sleep', ['600'], { env: { PLANTED: 'planted-in-an-environment' } });
      await using abstract = await listenAbstract();
      const { place, socket, hidden } = grounds;
      platform.assign({ open: script('curious'), other: script('says', [], { TOKEN: 'planted-for-another' }) });
      const openly = await platform.startRuntime();
      await Promise.all([platform.connected('open'), platform.connected('other')]);
      const homeOf = (name: string) => path.join(platform.workingDir, 'homes', platform.idOf(name));
      await writeFile(path.join(homeOf('other'), 'kept'), 'content of another home');
      const tries: Try[] = [
        ['read', place('secrets', 'system.key')],
        ['read', place('data', 'graph.sqlite')],
        ['read', place('svc.yaml')],
        ['read', path.join(homeOf('other'), 'kept')],
        ['list', path.join(platform.workingDir, 'homes')],
        ['read', '/etc/shadow'],
        ['signal', bystander.pid ?? 0],
        ['signal', process.pid],
        ['read', `/proc/${bystander.pid}/environ`],
        ['connect', socket],
        ['connect', abstract.name],
        ['write', place('secrets', 'planted')],
        ['write', path.join(grounds.dir, 'planted')],
        ['write', '/usr/planted-by-a-test'],
      ];
      // First, the test shows that it notices each of them.
      const [
        secret,
        data,
        definition,
        kept,
        homes,
        shadow,
        signal,
        signalParent,
        environ,
        control,
        abstractly,
        ...writes
      ] = await attempt(platform, 'open', ...tries.slice(0, -1));
      expect([secret, data, definition]).toEqual([
        ...['secrets/system.key', 'data/graph.sqlite', 'svc.yaml'].map((file) => `content of ${file}`),
      ]);
      expect(kept).toBe('content of another home');
      expect(homes?.split(' ')).toHaveLength(2);
      if (process.getuid?.() === 0) expect(shadow).toMatch(/^root:/);
      expect([signal, signalParent, control, abstractly, ...writes]).toEqual(Array(6).fill('done'));
      expect(environ).toContain('planted-in-an-environment');
      expect((await attempt(platform, 'open', ['environments']))[0]).toContain('planted-for-another');
      await openly.stop();

      await platform.startRuntime({ ...sandboxing, MCP_SERVER_HIDDEN_PATHS: hidden });
      await Promise.all([platform.connected('open'), platform.connected('other')]);
      const own = platform.idOf('open');
      expect(await attempt(platform, 'open', ...tries)).toEqual([
        ...['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', own, answers.etc, 'ESRCH', 'ESRCH', 'ENOENT'],
        ...[answers.socket, answers.abstractSocket, 'ENOENT', 'ENOENT', 'EROFS'],
      ]);
      const [environments = ''] = await attempt(platform, 'open', ['environments']);
      expect(environments).toContain(own);
      expect(environments).not.toMatch(/planted|RUNTIME_KEY|RTK_/);
      bystander.kill('SIGKILL');
    },
  );

  only(
    'an MCP server has its home, its temporary folder, /tmp, its working directory and the network, and reads allowed paths',
    async () => {
      await using grounds = await openGrounds();
      await using platform = await Platform.open();
      const { dir, project } = grounds;
      const allowed = `${sandboxing.SVC_ALLOWED_PATHS}:${path.join(dir, 'beside')}`;
      await symlink(path.join(dir, 'beside'), path.join(project, 'link'));
      platform.assign({ one: { ...script('curious'), cwd: project } });
      await platform.startRuntime({ ...sandboxing, SVC_ALLOWED_PATHS: allowed });
      await platform.connected('one');
      const { workingDir } = platform;
      const home = path.join(workingDir, 'homes', platform.idOf('one'), 'f');
      const [environments = ''] = await attempt(platform, 'one', ['environments']);
      const temporary = /\bTMPDIR=([^\s\0]+)/.exec(environments)?.[1] ?? '';
      const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      expect(
        await attempt(
          platform,
          'one',
          ['write', home],
          ['write', path.join(temporary, 'f')],
          ['write', '/tmp/made-inside'],
          ['write', 'made.txt'],
          ['read', 'notes.txt'],
          ['read', 'link/b.txt'],
          ['write', path.join(dir, 'beside', 'b.txt')],
          ['list', dir],
          ['list', '/tmp'],
          ['fetch', `http://127.0.0.1:${port}/`],
        ),
      ).toEqual([
        ...['done', 'done', 'done', 'done', 'content of ../project/notes.txt', 'content of ../beside/b.txt', 'EROFS'],
        ...['beside project', expect.stringContaining('made-inside'), answers.loopback],
      ]);
      expect(await readFile(path.join(project, 'made.txt'), 'utf8')).toBe('written');
      expect(await readFile(home, 'utf8')).toBe('written');
      await expect(readFile('/tmp/made-inside')).rejects.toMatchObject({ code: 'ENOENT' });
      server.close();
    },
  );

  only('an allowed path that contains the installation shows nothing of it', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const { dir, place, hidden } = grounds;
    platform.assign({ one: script('curious') });
    const SVC_WORKING_DIR = place('data', 'runtime');
    const SVC_ALLOWED_PATHS = `${sandboxing.SVC_ALLOWED_PATHS}:${dir}`;
    await platform.startRuntime({ ...sandboxing, MCP_SERVER_HIDDEN_PATHS: hidden, SVC_WORKING_DIR, SVC_ALLOWED_PATHS });
    await platform.connected('one');
    expect(
      await attempt(
        platform,
        'one',
        ['list', place('secrets')],
        ['list', place('state')],
        ['list', place('data')],
        ['list', place('data', 'runtime', 'homes')],
        ['read', place('svc.yaml')],
        ['write', place('secrets', 'x')],
        ['rename', place()],
        ['read', path.join(dir, 'beside', 'b.txt')],
      ),
    ).toEqual([
      ...['', '', 'runtime', platform.idOf('one'), answers.covered, 'EROFS', 'EROFS'],
      'content of ../beside/b.txt',
    ]);
  });

  only('only its own files in /proc are writable, and no capability is left', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('curious') });
    await platform.startRuntime(sandboxing);
    await platform.connected('one');
    const [writable, status, descriptors] = await attempt(
      platform,
      'one',
      ['writableInProc'],
      ['read', '/proc/self/status'],
      ['list', '/proc/1/fd'],
    );
    expect(writable).toBe('');
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(descriptors).not.toContain('curious');
  });
});

test.runIf(process.getuid?.() === 0)('a write in /proc without a sandbox would be noticed', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('curious') });
  await platform.startRuntime();
  await platform.connected('one');
  expect((await attempt(platform, 'one', ['writableInProc']))[0]).toContain('/proc/sys/kernel/');
});

describe.runIf(canSandbox)('in a sandbox', () => {
  test("an MCP server's variables are in no argument, and the runtime's are not in its environment", async () => {
    await using platform = await Platform.open();
    const preload = path.join(platform.workingDir, 'evil.so');
    await writeFile(preload, 'no library');
    platform.assign({ one: script('echo', [], { TOKEN: 'planted-token', LD_PRELOAD: preload }) });
    await platform.startRuntime({
      ...sandboxing,
      npm_config_cache: '/nowhere/.npm',
      npm_config_registry: 'http://localhost:1/',
    });
    await platform.connected('one');
    const { env } = JSON.parse(await platform.say('one', {}, 'environment'));
    expect(env).toMatchObject({ TOKEN: 'planted-token', npm_config_registry: 'http://localhost:1/' });
    expect(Object.keys(env).sort()).toEqual(
      expect.arrayContaining(['HOME', 'PATH', 'SVC_MCP_SERVER_INSTANCE', 'TMPDIR', 'TOKEN']),
    );
    expect(env.npm_config_cache).toContain(path.join(platform.workingDir, 'caches'));
    for (const name of ['RUNTIME_KEY', 'MCP_SERVER_SANDBOX']) expect(env).not.toHaveProperty(name);
    const mark: string = env.SVC_MCP_SERVER_INSTANCE;
    const processes = (await look()).filter((one) => one.mark === mark);
    // bwrap, the first process inside, and the MCP server.
    expect(processes).toHaveLength(3);
    for (const { pid } of processes) {
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('planted-token');
    }
    const holders = processes.filter(({ parent }) => parent === process.pid);
    expect(holders).toHaveLength(1);
    expect(await readFile(`/proc/${holders[0]?.pid}/environ`, 'utf8')).not.toMatch(/planted-token|LD_PRELOAD/);
  });
});

interface Where {
  readonly place: (...parts: string[]) => string;
  readonly project: string;
  readonly workingDir: string;
}

test.each<[string, (where: Where) => string]>([
  ['is in secrets/', ({ place }) => place('secrets')],
  ['leads to secrets/ by a link', ({ project }) => path.join(project, 'link')],
  ['holds the installation', ({ project }) => path.dirname(project)],
  ['holds the homes of all', ({ workingDir }) => workingDir],
  ["is another's home", ({ workingDir }) => path.join(workingDir, 'homes', 'other')],
  ['is the whole machine', () => '/'],
  ["is the system's", () => (existsSync('/run') ? '/run' : '/dev')],
])('a working directory that %s is refused, and nothing is started', async (_name, where) => {
  await using grounds = await openGrounds();
  await using platform = await Platform.open();
  const { place } = grounds;
  const { workingDir } = platform;
  await symlink(place('secrets'), path.join(grounds.project, 'link'));
  await mkdir(path.join(workingDir, 'homes', 'other'), { recursive: true });
  platform.assign({ one: { ...script('curious'), cwd: where({ place, project: grounds.project, workingDir }) } });
  await platform.startRuntime({ ...sandboxing, MCP_SERVER_HIDDEN_PATHS: grounds.hidden });
  const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
  expect(reason).toMatchObject({ code: 'folder_refused' });
});

const look = createLook();

/**
 * A socket in the abstract namespace of Unix sockets, which belongs to the network. The first byte of its name is zero.
 */
async function listenAbstract() {
  const name = `\0svc-test-${process.pid}-${Math.random()}`;
  const server = createServer((connection) => connection.end()).listen(name);
  await once(server, 'listening');
  return { name, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
}
