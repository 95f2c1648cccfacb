import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, '..');
const folders: string[] = [];
const children: ChildProcessByStdio<null, Readable, null>[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A checkout whose `check` is this program; by default it is installed. */
function checkout(program: string, installed = true): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-ready-'));
  folders.push(root);
  mkdirSync(join(root, '.config'));
  for (const file of ['ready.cjs', 'end-with-parent.cjs']) cpSync(join(here, file), join(root, '.config', file));
  cpSync(join(repository, 'package-lock.json'), join(root, 'package-lock.json'));
  writeFileSync(join(root, '.config/check.ts'), program);
  if (installed) symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  return root;
}

describe('a task', () => {
  test('gets its arguments, the pinned Node and its own folder, and returns its exit code', () => {
    const root = checkout(`
      import { execFileSync } from 'node:child_process';
      const node = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
      console.log(JSON.stringify([process.argv.slice(2), process.version === node, process.cwd() === import.meta.dirname.replace(/.\\.config$/, '')]));
      process.exit(7);`);
    const args = [join(root, '.config/ready.cjs'), 'check', '--a', 'b c', '--', '*'];
    const run = spawnSync(process.execPath, args, { cwd: tmpdir(), encoding: 'utf8' });
    expect(run).toMatchObject({ status: 7, stderr: '', stdout: '[["--a","b c","--","*"],true,true]\n' });
  });

  test("runs under the machine's Node if the platform has no pinned one", () => {
    const root = checkout('console.log(process.execPath);', false);
    mkdirSync(join(root, 'node_modules'));
    const account = 'node_modules/.package-lock.json';
    cpSync(join(repository, account), join(root, account));
    const run = spawnSync(process.execPath, [join(root, '.config/ready.cjs'), 'check'], { encoding: 'utf8' });
    expect(run).toMatchObject({ status: 0, stderr: '', stdout: `${process.execPath}\n` });
  });

  test('that does not exist, or is missing in this checkout, is refused in one sentence', () => {
    const root = checkout('');
    const ready = (...args: string[]) =>
      spawnSync(process.execPath, [join(root, '.config/ready.cjs'), ...args], { encoding: 'utf8' });
    expect(ready('constructor')).toMatchObject({
      status: 2,
      stderr:
        '"constructor" is not a task. Tasks: start, test, build, check, operations, words, pages, bench, chaos.\n',
    });
    rmSync(join(root, '.config/check.ts'));
    expect(ready('check')).toMatchObject({ status: 1, stderr: '"check" cannot run: .config/check.ts is missing.\n' });
  });
});

describe('a signal', () => {
  const program = `
    let interruptions = 0;
    process.on('SIGWINCH', () => console.log('in the same group'));
    process.on('SIGINT', () => { interruptions++; console.log('interrupted'); });
    process.on('SIGTERM', () => { console.log('ended after', interruptions); process.exit(5); });
    setInterval(() => {}, 1000);
    console.log('started');`;

  // Longer than the time in which a repetition is dropped, so that a repetition that gets through is counted.
  const laterMs = 400;

  // A machine that stalls sends the repetition too late to count as one, so the test may run again.
  test('reaches the task once although npm repeats it; a later signal reaches it again', {
    retry: 3,
  }, async () => {
    const { child, nextLine, exit } = await start(program);
    process.kill(child.pid ?? 0, 'SIGINT');
    expect(await nextLine()).toBe('interrupted');
    process.kill(child.pid ?? 0, 'SIGINT');
    await delay(laterMs);
    process.kill(child.pid ?? 0, 'SIGINT');
    expect(await nextLine()).toBe('interrupted');
    process.kill(child.pid ?? 0, 'SIGTERM');
    expect(await nextLine()).toBe('ended after 2');
    expect(await exit).toEqual({ code: 5, signal: null });
  });

  test('to the whole group, as a terminal sends it, reaches the task only through its parent', async () => {
    const { child, nextLine, exit } = await start(program);
    // No process passes this signal on, so only a task in the same group would receive it.
    process.kill(-(child.pid ?? 0), 'SIGWINCH');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await nextLine()).toBe('interrupted');
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    expect(await nextLine()).toBe('ended after 1');
    expect(await exit).toEqual({ code: 5, signal: null });
  });

  test('that ends the task ends its parent in the same way', async () => {
    const { child, exit } = await start(`setInterval(() => {}, 1000); console.log('started');`);
    process.kill(child.pid ?? 0, 'SIGTERM');
    expect(await exit).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('that kills the parent lets the task end by itself', async () => {
    const { child, nextLine } = await start(program);
    process.kill(child.pid ?? 0, 'SIGKILL');
    expect(await nextLine()).toBe('ended after 0');
    // The pipe has no writer any more.
    expect(await nextLine()).toBeUndefined();
  });
});

describe('the installation', () => {
  // Prints its arguments, and "installs" the packages of the repository.
  const npm = `#!/bin/sh\necho "npm $*" >&2\nln -sfn "${repository}/node_modules" node_modules\n`;

  test('is made if it is missing, and kept if it matches the lock file', () => {
    const root = checkout(`console.log('checked');`, false);
    expect(ready(root)).toMatchObject({
      status: 0,
      stdout: 'checked\n',
      stderr: expect.stringContaining('npm ci --ignore-scripts'),
    });
    expect(ready(root)).toMatchObject({ status: 0, stdout: 'checked\n', stderr: '' });
  });

  test.each([
    ['another version', (entry: Record<string, unknown>) => ({ ...entry, version: '0.0.1' })],
    ['other content', (entry: Record<string, unknown>) => ({ ...entry, integrity: 'sha512-other' })],
  ])('is made again where the lock names %s', (_what, change) => {
    const root = checkout(`console.log('checked');`);
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    lock.packages['node_modules/zod'] = change(lock.packages['node_modules/zod']);
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
    expect(ready(root).stderr).toContain('npm ci');
  });

  test('is repeated if a package is missing or unexpected', () => {
    const root = checkout(`console.log('checked');`);
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const { 'node_modules/zod': zod, ...others } = lock.packages;
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ ...lock, packages: others }));
    expect(ready(root).stderr).toContain('npm ci');
    writeFileSync(
      join(root, 'package-lock.json'),
      JSON.stringify({ ...lock, packages: { ...others, 'node_modules/zod': zod, 'node_modules/new': zod } }),
    );
    expect(ready(root).stderr).toContain('npm ci');
  });

  test('that fails is reported, and no task runs', () => {
    const root = checkout(`console.log('checked');`, false);
    expect(ready(root, '#!/bin/sh\nexit 3\n')).toMatchObject({
      status: 3,
      stdout: '',
      stderr: expect.stringContaining('could not be installed'),
    });
  });

  function ready(root: string, script: string = npm) {
    const tools = mkdtempSync(join(tmpdir(), 'svc-npm-'));
    folders.push(tools);
    writeFileSync(join(tools, 'npm'), script);
    chmodSync(join(tools, 'npm'), 0o755);
    const env = { ...process.env, PATH: [tools, process.env.PATH].join(delimiter) };
    return spawnSync(process.execPath, [join(root, '.config/ready.cjs'), 'check'], { encoding: 'utf8', env });
  }
});

/** Starts the program as a task in a separate group, and waits for its first line. */
async function start(program: string) {
  const args = [join(checkout(program), '.config/ready.cjs'), 'check'];
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => (await lines.next()).value;
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await nextLine();
  return { child, nextLine, exit };
}
