import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const here = dirname(fileURLToPath(import.meta.url));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The run that contains these tests has installed everything that .ci/run installs, so these programs are fakes. */
const installers = ['python3', 'apt-get', 'dpkg-deb', 'nats-server', 'caddy', 'bwrap', 'pebble'];

/** Runs .ci/run in a checkout in which `npm test`, `npm run check` and `npm run chaos` are these scripts. */
function runWith({
  test,
  check,
  chaos = 'true',
  docker = 'echo unix:///docker.sock',
}: {
  readonly test: string;
  readonly check: string;
  readonly chaos?: string;
  readonly docker?: string;
}) {
  const scripts = { test, check, chaos: `${chaos} #` };
  const folder = mkdtempSync(join(tmpdir(), 'svc-ci-'));
  folders.push(folder);
  mkdirSync(join(folder, '.ci'));
  cpSync(join(here, 'run'), join(folder, '.ci/run'));
  writeFileSync(join(folder, '.ci/docker'), docker);
  for (const name of ['mcp-servers', 'mcp-clients']) writeFileSync(join(folder, '.ci', name), '');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'made-up', version: '1.0.0', scripts }));
  mkdirSync(join(folder, 'bin'));
  for (const name of installers) writeFileSync(join(folder, 'bin', name), '#!/bin/sh\n', { mode: 0o755 });
  // The developer's own Docker must not take part.
  const env = { ...process.env, DOCKER_HOST: undefined, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  const { status, stdout } = spawnSync(join(folder, '.ci/run'), {
    cwd: tmpdir(),
    encoding: 'utf8',
    input: 'typed',
    env,
  });
  return { status, stdout, last: stdout.trimEnd().split('\n').at(-1) };
}

test('if all is well, the check and each chaos count as one more test', () => {
  const run = runWith({ test: 'echo suites; echo "12 passed, 0 failed, 3 skipped"', check: 'true' });
  expect(run).toMatchObject({ status: 0, last: '15 passed, 0 failed, 3 skipped' });
});

test('a test that failed', () => {
  const run = runWith({ test: 'echo "12 passed, 2 failed, 3 skipped"; exit 1', check: 'true' });
  expect(run).toMatchObject({ status: 1, last: '15 passed, 2 failed, 3 skipped' });
});

test('the failures are repeated before the last line', () => {
  const suites = 'printf "Failed\\n  a.test.ts > fails (\\"why\\")\\n\\n1 passed, 1 failed, 0 skipped\\n"; exit 1';
  const { stdout } = runWith({ test: suites, check: 'true', chaos: 'echo nothing wrong' });
  expect(stdout.slice(stdout.lastIndexOf('nothing wrong'))).toContain('a.test.ts > fails ("why")');
});

test('a Docker for tests, and a Docker that could not start', () => {
  const tests = 'echo "at $SVC_TEST_DOCKER_HOST"; echo "12 passed, 0 failed, 0 skipped"';
  expect(runWith({ test: tests, check: 'true' }).stdout).toContain('\nat unix:///docker.sock\n');
  const without = runWith({ test: tests, check: 'true', docker: 'exit 1' });
  expect(without).toMatchObject({ status: 1, last: '14 passed, 2 failed, 0 skipped' });
});

test('a check that failed', () => {
  const run = runWith({ test: 'echo "12 passed, 0 failed, 0 skipped"', check: 'exit 1' });
  expect(run).toMatchObject({ status: 1, last: '14 passed, 1 failed, 0 skipped' });
});

test('a chaos that failed, with processes or with containers', () => {
  const tests = 'echo "12 passed, 0 failed, 0 skipped"';
  for (const chaos of ['[ -n "$DOCKER_HOST" ]', '[ -z "$DOCKER_HOST" ]']) {
    const run = runWith({ test: tests, check: 'true', chaos });
    expect(run).toMatchObject({ status: 1, last: '14 passed, 1 failed, 0 skipped' });
  }
});

test('tests that died before their last line', () => {
  const run = runWith({ test: 'echo "7 passed, 0 failed, 0 skipped, so far"; kill -9 $$', check: 'true' });
  expect(run).toMatchObject({ status: 1, last: '3 passed, 1 failed, 0 skipped' });
});

test('tests that print nothing and succeed', () => {
  expect(runWith({ test: 'true', check: 'true' })).toMatchObject({ status: 1, last: '3 passed, 1 failed, 0 skipped' });
});

test('tests that count no failure but exit with an error', () => {
  const run = runWith({ test: 'echo "12 passed, 0 failed, 0 skipped"; exit 3', check: 'true' });
  expect(run).toMatchObject({ status: 1, last: '15 passed, 1 failed, 0 skipped' });
});

test('no prompt appears: stdin is closed and CI is set', () => {
  const run = runWith({ test: 'cat; echo "CI=$CI"; echo "1 passed, 0 failed, 0 skipped"', check: 'true' });
  expect(run.stdout).toContain('\nCI=true\n');
  expect(run.stdout).not.toContain('typed');
});

test('it runs what the README tells people to run', () => {
  const documented = /^\s*npm test\b/m;
  expect(readFileSync(join(here, '../README.md'), 'utf8')).toMatch(documented);
  expect(readFileSync(join(here, 'run'), 'utf8')).toMatch(documented);
});
