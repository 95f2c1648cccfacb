import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createLook } from '../launchers/processes.ts';
import { Platform, script } from './platform.ts';
import { canSandbox, pathOfBwrap, sandboxing } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

const look = createLook();
const resolve = (file: string) => createRequire(import.meta.url).resolve(file);
const nodeModules = path.resolve(import.meta.dirname, '../../../node_modules');
const withPackages = {
  ...sandboxing,
  SVC_ALLOWED_PATHS: `${sandboxing.SVC_ALLOWED_PATHS}:${nodeModules}`,
};

/** Live processes with the mark of a child of this process, or of `parent`. */
async function tree(parent = process.pid): Promise<readonly number[]> {
  const all = await look();
  const marks = new Set(all.filter((one) => one.parent === parent && one.mark !== null).map(({ mark }) => mark));
  return all.filter(({ mark }) => mark !== null && marks.has(mark)).map(({ pid }) => pid);
}

async function living(pids: readonly number[]): Promise<readonly number[]> {
  const all = new Set((await look()).map(({ pid }) => pid));
  return pids.filter((pid) => all.has(pid));
}

const child = (command: string, ...args: string[]) => ({ kind: 'child' as const, command, args, cwd: null, env: {} });

describe.runIf(canSandbox)('in a sandbox', () => {
  test('the whole tree ends with the MCP server, whatever its members do to escape', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('grandchildren') });
    const running = await platform.startRuntime(sandboxing);
    await platform.connected('one');
    expect(JSON.parse(await platform.say('one', {}))).toHaveLength(4);
    const pids = await tree();
    // bwrap, the first process inside, and the four.
    expect(pids).toHaveLength(6);
    await running.stop();
    expect(await living(pids)).toEqual([]);
    expect(await readdir(path.join(platform.workingDir, 'children'))).toEqual([]);
  });

  test('a killed one ends with its tree and is restarted', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('grandchildren') });
    await platform.startRuntime(sandboxing);
    await platform.connected('one');
    const before = await tree();
    const [holder = 0] = before.toSorted((one, other) => one - other);
    process.kill(holder, 'SIGKILL');
    await platform.reported('one', ({ status, restarts }) => status === 'Connected' && restarts === 1);
    expect(await living(before)).toEqual([]);
  });

  test('kill -9 of the runtime leaves nothing, even before a clean-up', async () => {
    await using platform = await Platform.open();
    const host = spawn(
      process.execPath,
      [path.join(import.meta.dirname, 'children', 'killed-runtime.mjs'), platform.workingDir, 'sandboxed'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(host.stdout, 'data');
    const pids = await tree(host.pid);
    expect(pids).toHaveLength(4);
    host.kill('SIGKILL');
    try {
      await vi.waitFor(async () => expect(await living(pids)).toEqual([]), { timeout: 5000 });
    } finally {
      for (const pid of await living(pids)) process.kill(pid, 'SIGKILL');
    }
  });

  test('one that handles SIGTERM has time to finish', async () => {
    await using platform = await Platform.open();
    const said =
      "setTimeout(() => { require('fs').writeFileSync(process.env.HOME + '/last', 'said'); process.exit(0); }, 200)";
    const lasting = `process.on('SIGTERM', () => ${said}); setInterval(() => {}, 1000);`;
    platform.assign({
      one: { ...script('echo'), args: ['-e', `${lasting} import(${JSON.stringify(scriptFile('echo'))})`] },
    });
    const running = await platform.startRuntime(sandboxing);
    await platform.connected('one');
    await running.stop();
    const last = path.join(platform.workingDir, 'homes', platform.idOf('one'), 'last');
    expect(await readFile(last, 'utf8')).toBe('said');
  });

  test('its end is explained as without a sandbox', async () => {
    const ends = {
      exits: script('exits', ['3', 'Error: API_KEY is required']),
      zero: script('exits', ['0', 'said this']),
      killed: child('sh', '-c', 'kill -9 $$'),
      nowhere: child('no-such-command-anywhere'),
      absolute: child('/no/such/command'),
      notExecutable: child('/etc/hosts'),
      missing: child('node', '/no/such/script.mjs'),
      like: child('sh', '-c', 'echo "bwrap: execvp x: No such file or directory" >&2; exit 1'),
    };
    const told: Record<string, unknown>[] = [];
    // A folder on it that may not be read would be one more difference.
    const PATH = ['/usr/bin', '/bin', path.dirname(process.execPath), path.dirname(pathOfBwrap)].join(':');
    for (const env of [{}, sandboxing]) {
      await using platform = await Platform.open();
      platform.assign(ends);
      await platform.startRuntime({ ...env, PATH });
      const one: Record<string, unknown> = {};
      for (const name of Object.keys(ends)) {
        const { reason, stderr } = await platform.reported(name, ({ status }) => status === 'Error');
        one[name] = {
          code: reason?.code,
          message: reason?.message,
          stderr: stderr.filter((line) => !/^bwrap: execvp (no-|\/)/.test(line)),
        };
      }
      told.push(one);
    }
    expect(told[1]).toEqual(told[0]);
    expect(told[1]).toMatchObject({
      exits: { code: 'setting_missing', stderr: ['Error: API_KEY is required'] },
      killed: { code: 'killed', message: expect.stringContaining('SIGKILL') },
      nowhere: { code: 'command_not_found' },
      absolute: { code: 'command_not_found' },
    });
  });

  test('an existing but hidden file is explained', async () => {
    await using platform = await Platform.open();
    const folder = path.join(platform.workingDir, 'elsewhere');
    await mkdir(folder);
    const program = path.join(folder, 'program');
    await writeFile(program, '#!/bin/sh\ncat\n', { mode: 0o755 });
    platform.assign({ program: child(program), file: child('node', program) });
    await platform.startRuntime(sandboxing);
    const { reason } = await platform.reported('program', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({ code: 'not_in_sandbox', repair: expect.stringContaining('runtime.allowedPaths') });
    const { reason: other } = await platform.reported('file', ({ status }) => status === 'Error');
    expect(other).toMatchObject({ code: 'module_not_found', repair: expect.stringContaining('It is sandboxed.') });
  });

  test('servers of packages work: by node, by the commands on the PATH, and by npx', async () => {
    await using platform = await Platform.open();
    await using stack = new AsyncDisposableStack();
    const documents = await mkdtemp(path.join(tmpdir(), 'svc-documents-'));
    stack.defer(() => rm(documents, { recursive: true, force: true }));
    await writeFile(path.join(documents, 'a.txt'), 'in a document');
    const project = path.join(documents, 'project');
    await mkdir(project);
    await symlink(nodeModules, path.join(project, 'node_modules'));
    const filesystem = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
    platform.assign({
      node: { ...child(process.execPath, filesystem, '.'), cwd: documents },
      command: { ...child('mcp-server-filesystem', documents), cwd: documents },
      npx: { ...child('npx', '--no', 'mcp-server-memory'), cwd: project },
    });
    await platform.startRuntime({ ...withPackages, PATH: `${path.join(nodeModules, '.bin')}:${process.env.PATH}` });
    for (const name of ['node', 'command']) {
      await platform.connected(name);
      const read = await platform.say(name, { path: path.join(documents, 'a.txt') }, 'read_text_file');
      expect(read).toBe('in a document');
    }
    const { tools } = await platform.connected('npx');
    expect(tools.map(({ name }) => name)).toContain('create_entities');
  });
});

function scriptFile(name: string): string {
  return path.join(import.meta.dirname, 'children', `${name}.mjs`);
}

describe('without a sandbox nothing runs', () => {
  test('because bwrap is missing', async () => {
    await using platform = await Platform.open();
    const empty = path.join(platform.workingDir, 'empty');
    await mkdir(empty);
    platform.assign({ one: script('echo') });
    await platform.startRuntime({ ...sandboxing, PATH: empty });
    const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('the program bwrap is not on PATH'),
      repair: expect.stringContaining('bubblewrap'),
    });
    expect(await tree()).toEqual([]);
  });

  test.runIf(canSandbox)('because the system gives it no namespace', async () => {
    await using platform = await Platform.open();
    const folder = path.join(platform.workingDir, 'limited');
    await mkdir(folder);
    // The real one, as a user without further user namespaces.
    const limited = `echo 1 > /proc/sys/user/max_user_namespaces; exec unshare -U --map-user=1000 --map-group=1000 ${pathOfBwrap} "$@"`;
    await writeFile(path.join(folder, 'bwrap'), `#!/bin/sh\nexec unshare -Ur sh -c '${limited}' sh "$@"\n`);
    await chmod(path.join(folder, 'bwrap'), 0o755);
    platform.assign({ one: script('echo') });
    await platform.startRuntime({ ...sandboxing, PATH: `${folder}:${process.env.PATH}` });
    const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('the system has reached its limit of namespaces'),
      repair: expect.stringContaining('user.max_user_namespaces'),
    });
  });
});
