import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const here = dirname(fileURLToPath(import.meta.url));
const folders: string[] = [];
const runners: ReturnType<typeof startRunner>[] = [];

afterEach(() => {
  for (const runner of runners.splice(0)) runner.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const passing = `import { test } from 'vitest'; test('one', () => {}); test('two', () => {});`;

test('tests that pass end with their number and exit code 0', async () => {
  const run = await runSuites({ 'stack/a.test.ts': passing, 'cli/b.test.ts': passing });
  expect(run).toMatchObject({ code: 0, last: '4 passed, 0 failed, 0 skipped' });
  expect(run.stdout).toMatch(/\d+\.\d\d s {2}stack\/a\.test\.ts: 2 passed/);
});

test('a test that fails is named', async () => {
  const run = await runSuites({
    'stack/a.test.ts': `import { expect, test } from 'vitest'; test('adds', () => expect(1 + 1).toBe(3)); test('stands', () => {});`,
  });
  expect(run).toMatchObject({ code: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/a.test.ts > adds');
});

test.each([
  ['process.exit', 'process.exit(0)'],
  ['a worker killed', `process.kill(process.pid, 'SIGKILL')`],
  ['vitest killed', `process.kill(process.ppid, 'SIGKILL'); await new Promise(() => {})`],
])('a suite that crashes (%s) fails alone', async (_way, statement) => {
  const run = await runSuites({
    'stack/crash.test.ts': `import { test } from 'vitest'; test('crash', async () => { ${statement}; }, 60_000);`,
    'stack/a.test.ts': passing,
    'stack/b.test.ts': passing,
  });
  expect(run).toMatchObject({ code: 1, last: '4 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/crash.test.ts');
});

test('a suite that throws while it is imported fails', async () => {
  const run = await runSuites({ 'stack/a.test.ts': `throw new Error('at import');`, 'stack/b.test.ts': passing });
  expect(run).toMatchObject({ code: 1, last: '2 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/a.test.ts: at import');
});

test('a suite that blocks its process is ended at the limit of a file, and fails alone', async () => {
  const hanging = `import { test } from 'vitest'; test('hang', () => { for (;;); });`;
  const run = await runSuites({ 'stack/hang.test.ts': hanging, 'stack/a.test.ts': passing }, ['--file-limit', '2']);
  expect(run).toMatchObject({ code: 1, last: '2 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/hang.test.ts: was still running after 2 s');
});

test('the limit of the whole run ends the remaining suites and their processes', async () => {
  const pidFile = join(mkdtempSync(join(tmpdir(), 'svc-runner-')), 'pid');
  folders.push(dirname(pidFile));
  const hanging = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs'; import { test } from 'vitest';
    test('hang', async () => {
      writeFileSync(${JSON.stringify(pidFile)}, String(spawn('sleep', ['600']).pid));
      await new Promise(() => {});
    }, 60_000);`;
  const run = await runSuites({ 'stack/hang.test.ts': hanging }, ['--run-limit', '6']);
  expect(run).toMatchObject({ code: 1, last: '0 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/hang.test.ts: did not finish: the run reached its limit of 6 s');
  await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
});

test('an empty suite fails, and so does a run without any', async () => {
  const run = await runSuites({ 'stack/empty.test.ts': 'export {};', 'stack/a.test.ts': passing });
  expect(run).toMatchObject({ code: 1, last: '2 passed, 1 failed, 0 skipped' });
  expect(await runSuites({})).toMatchObject({ code: 1, last: '0 passed, 1 failed, 0 skipped' });
});

test('a skip without a reason on the list fails', async () => {
  const run = await runSuites({
    'stack/a.test.ts': `import { test } from 'vitest'; test('runs', () => {}); test.skip('unlisted', () => {});`,
  });
  expect(run).toMatchObject({ code: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  stack/a.test.ts > unlisted: skipped, and .config/skips.ts gives no reason for it');
});

test('a listed skip is named with its reason, and an unused entry is reported', async () => {
  const run = await runSuites({
    'stack/a.test.ts': `import { test } from 'vitest'; test('runs', () => {}); test('needs a moon', (it) => it.skip('no moon'));`,
    '.config/skips.ts': `export const skips = [{ pattern: /needs a moon/, reason: 'not every sky has one', isHere: false }, { pattern: /gone/, reason: 'old', isHere: false }];`,
  });
  expect(run).toMatchObject({ code: 0, last: '1 passed, 0 failed, 1 skipped' });
  expect(run.stdout).toContain('  stack/a.test.ts > needs a moon: not every sky has one');
  expect(run.stdout).toContain('Allowed skips that nothing used\n  /gone/: old');
});

test('a suite may be skipped as a whole only if a program that it needs is missing', async () => {
  const suite = `import { test } from 'vitest'; test.skip('needs a moon', () => {}); test.skip('needs its light', () => {});`;
  const listed = (isHere: boolean) => ({
    'stack/a.test.ts': suite,
    'stack/b.test.ts': passing,
    '.config/skips.ts': `export const skips = [{ pattern: /needs/, reason: 'not every sky has one', isHere: ${isHere} }];`,
  });
  const without = await runSuites(listed(false));
  expect(without).toMatchObject({ code: 0, last: '2 passed, 0 failed, 2 skipped' });
  expect(without.stdout).toContain('  stack/a.test.ts > needs its light: not every sky has one');
  const withIt = await runSuites(listed(true));
  expect(withIt).toMatchObject({ code: 1, last: '2 passed, 3 failed, 0 skipped' });
  expect(withIt.stdout).toContain(
    '  stack/a.test.ts > needs a moon: skipped, and .config/skips.ts gives no reason for it',
  );
  // A test that needs something else is not excused by the tests that need the missing program.
  const mixed = await runSuites({
    'stack/a.test.ts': `${suite} test.skip('just so', () => {});`,
    '.config/skips.ts': `export const skips = [{ pattern: /needs/, reason: 'none', isHere: false }, { pattern: /just/, reason: 'so', isHere: true }];`,
  });
  expect(mixed).toMatchObject({ code: 1, last: '0 passed, 2 failed, 2 skipped' });
});

test('a rejected promise that no test awaits fails the run', async () => {
  const run = await runSuites({
    'stack/a.test.ts': `import { test } from 'vitest'; test('leaves', () => { void Promise.reject(new Error('left behind')); });`,
  });
  expect(run).toMatchObject({ code: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(run.stdout).toContain('  outside of any test: left behind');
});

test('.only fails instead of leaving out the rest', async () => {
  const run = await runSuites({
    'stack/a.test.ts': `import { test } from 'vitest'; test('one', () => {}); test.only('two', () => {});`,
  });
  expect(run.code).toBe(1);
});

test('an interrupted run still ends with its numbers', async () => {
  const hanging = `import { test } from 'vitest'; test('hang', () => new Promise(() => {}), 60_000);`;
  const child = startRunner(writeSuites({ 'stack/hang.test.ts': hanging, 'stack/a.test.ts': passing }), []);
  const finished = finish(child);
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('ok ') && child.kill('SIGINT'));
  expect(await finished).toMatchObject({ code: 1, last: '2 passed, 1 failed, 0 skipped' });
});

test('a killed runner ends its suites, also one that blocks its process', async () => {
  const pidFile = join(mkdtempSync(join(tmpdir(), 'svc-runner-')), 'pid');
  folders.push(dirname(pidFile));
  const blocking = `import { writeFileSync } from 'node:fs'; import { test } from 'vitest';
    test('block', () => { writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); for (;;); });`;
  const runner = startRunner(writeSuites({ 'stack/block.test.ts': blocking }), []);
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8'), { timeout: 10_000 }).toMatch(/\d/);
  runner.kill('SIGKILL');
  await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8'))), { timeout: 5000 }).toBe(false);
});

function runSuites(files: Readonly<Record<string, string>>, args: readonly string[] = []) {
  return finish(startRunner(writeSuites(files), args));
}

function writeSuites(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-runner-'));
  folders.push(folder);
  symlinkSync(join(here, '../node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function startRunner(folder: string, args: readonly string[]) {
  const runner = join(here, 'test.ts');
  const child = spawn(process.execPath, [runner, '--root', folder, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  runners.push(child);
  return child;
}

async function finish(child: ReturnType<typeof startRunner>) {
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stdout = (await child.stdout.toArray()).join('');
  return { code: await code, stdout, last: stdout.trimEnd().split('\n').at(-1) };
}

/** A zombie is dead, but keeps its process id if no process reaps orphans. */
function isAlive(pid: number): boolean {
  if (existsSync('/proc/self/stat')) {
    return existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
