import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { runSvc, svcFile } from './run-svc.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-runtime-start-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const start = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
  runSvc(['runtime', 'start', ...args], { cwd, env });
const key = newKey('runtime').reveal();
const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');

describe('a faulty setting is refused before anything is created', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ['no key', {}, /RUNTIME_KEY is required.*svc runtime register/s],
    ['an empty key', { RUNTIME_KEY: '' }, /RUNTIME_KEY is required/],
    [
      'the key of an agent',
      { RUNTIME_KEY: newKey('user').reveal() },
      /must be a key that starts with RTK_.*a user key/s,
    ],
    ['two identities', { RUNTIME_KEY: key, RUNTIME_NAME: 'edge' }, /must not be set together with RUNTIME_NAME/],
    ['a malformed heartbeat', { RUNTIME_KEY: key, HEARTBEAT_INTERVAL: 'often' }, /HEARTBEAT_INTERVAL must be/],
    [
      'a missing certificate authority',
      { RUNTIME_KEY: key, BUS_CA_PATH: 'ca.pem' },
      /BUS_CA_PATH "ca\.pem" does not exist/,
    ],
  ];
  test.each(rows)('%s', async (_what, env, told) => {
    const run = await start({ ...env, SVC_WORKING_DIR: join(cwd, 'made') });
    expect(run.stderr).toMatch(told);
    expect([run.stdout, run.code]).toEqual(['', 2]);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test('a key as an argument, which is not repeated', async () => {
    const run = await start({}, key);
    expect(run.stderr).toMatch(/A key must not be an argument.*RUNTIME_KEY_FILE/s);
    expect(run.stderr + run.stdout).not.toContain(key);
    expect(run.code).toBe(2);
  });
});

test('a key with a typo is detected by its checksum alone', async () => {
  const run = await start({ RUNTIME_KEY: mistyped, SVC_WORKING_DIR: join(cwd, 'typo') });
  expect(run.stderr).toContain('RUNTIME_KEY has a typo');
  expect(run.stderr).not.toContain(mistyped);
  expect([run.stdout, run.code]).toEqual(['', 2]);
});

/** unshare(1) runs a program as a user that no list of users has, if the system allows it. */
const asUnknownUser = ['--user', '--map-user=54321', 'env', '-u', 'HOME'];
const canBeUnknown = spawnSync('unshare', [...asUnknownUser, 'true']).status === 0;

test.skipIf(!canBeUnknown)('starts as a user without a home, such as that of a service of systemd', () => {
  const { stderr, status } = spawnSync('unshare', [...asUnknownUser, process.execPath, svcFile, 'runtime', 'start'], {
    cwd,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
  expect(stderr).toContain('RUNTIME_KEY is required');
  expect(status).toBe(2);
});

test('the bus of another process', async () => {
  const run = await start({ RUNTIME_KEY: key, BUS_SERVERS: 'inproc:', SVC_WORKING_DIR: join(cwd, 'inproc') });
  expect(run.stderr).toContain('this process has none');
  expect(run.code).toBe(2);
});

describe('a file with variables', () => {
  test('names its neighbours relative to its folder, causes a warning if others may read it, and yields to the environment', async () => {
    const file = join(cwd, 'edge.env');
    writeFileSync(file, `RUNTIME_KEY=${mistyped}\nBUS_CA_PATH=beside.pem\n`, { mode: 0o644 });
    const run = await runSvc(['runtime', 'start', '--variable-file', file], { cwd: tmpdir() });
    expect(run.stderr).toContain(`"${file}" may be read by others (mode 0644): chmod 600 ${file}`);
    expect(run.stderr).toContain(`BUS_CA_PATH "${join(cwd, 'beside.pem')}" does not exist.`);
    expect(run.code).toBe(2);
    const other = await start({ BUS_CA_PATH: 'other.pem' }, '--variable-file', file);
    expect(other.stderr).toContain('BUS_CA_PATH "other.pem" does not exist.');
  });

  test('that sets an unused variable is reported', async () => {
    const text = 'BUS_SERVER=nats://x:1\nHTTPS_PROXY=http://proxy:3128\nUSER_KEY=x\nFAVOURITE=blue\n';
    writeFileSync(join(cwd, 'mistyped.env'), text, { mode: 0o600 });
    const { stderr } = await start({}, '--variable-file', 'mistyped.env');
    expect(stderr.split('\n').filter((line) => line.includes('is not a variable'))).toEqual([
      '! BUS_SERVER is not a variable of the runtime: did you mean BUS_SERVERS?',
      '! FAVOURITE is not a variable of the runtime',
    ]);
    expect(stderr).toContain('USER_KEY is rejected by runtime');
  });

  test('that is missing is named', async () => {
    const run = await start({}, '--variable-file', 'none.env');
    expect(run.stderr).toContain('--variable-file "none.env" cannot be read: it does not exist.');
    expect(run.code).toBe(2);
  });

  test('that contains anything else is refused with the line', async () => {
    writeFileSync(join(cwd, 'broken.env'), 'RUNTIME_KEY=x\nnonsense\n', { mode: 0o600 });
    const run = await start({}, '--variable-file', 'broken.env');
    expect(run.stderr).toContain('--variable-file "broken.env", line 2: it must be NAME=value.');
  });
});

test('a failure with --json is one JSON document', async () => {
  const run = await start({}, '--json');
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'invalid_input' } });
  expect(run.code).toBe(2);
});
