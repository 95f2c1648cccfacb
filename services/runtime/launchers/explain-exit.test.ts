import { expect, test } from 'vitest';
import { explainExit, explainSpawnError } from './explain-exit.ts';

test.each([
  ['npm error code E404\nnpm error 404 Not Found - GET', 1, 'package_not_found'],
  ['npm error code ETARGET', 1, 'package_not_found'],
  ['cause: Because x-mcp was not found in the package registry and you require x-mcp', 1, 'package_not_found'],
  ['cause: Because there is no version of x-mcp==0.0.1 and you require', 1, 'package_not_found'],
  ['Package `requests` does not provide any executables.', 1, 'package_without_command'],
  ['error: Failed to fetch: `https://a.example/simple/x/`', 2, 'registry_unreachable'],
  ['npm error Invalid Version: ', 1, 'package_broken'],
  ['npm error code ENOTEMPTY\nnpm error syscall rename', 1, 'package_broken'],
  ["Cannot find module '/x/_npx/90/node_modules/a/b.js'", 1, 'package_broken'],
  ['Error: getaddrinfo ENOTFOUND db.example.com', 1, 'service_unreachable'],
  ['npm error code ENOTFOUND\nnpm error network request failed', 1, 'registry_unreachable'],
  ['npm error code E401', 1, 'package_refused'],
  ['npm error could not determine executable to run', 1, 'package_without_command'],
  ["Error: Cannot find module '/x/y.js'", 1, 'module_not_found'],
  ['ModuleNotFoundError: No module named mcp', 1, 'module_not_found'],
  ['sh: 1: mcp-thing: not found', 127, 'command_not_found'],
  ['', 126, 'not_executable'],
  ['Error: listen EADDRINUSE: address already in use :::3000', 1, 'port_taken'],
  ['GITHUB_TOKEN environment variable is not set', 1, 'setting_missing'],
  ['Error: API key is required', 1, 'setting_missing'],
  ['Usage: mcp-server-filesystem [allowed-directory]', 1, 'arguments_wrong'],
  ['usage: x [-h]\nx: error: the following arguments are required: --db', 2, 'arguments_wrong'],
  ['Error: unknown flag: --prot\nUsage:\n  x [flags]', 1, 'arguments_wrong'],
  ['Error: no context is set\nUsage:\n  x [flags]', 1, 'exited'],
  ["EACCES: permission denied, open '/data/x'", 1, 'permission_denied'],
  ["ENOENT: no such file or directory, stat '/nowhere'", 1, 'file_not_found'],
  ['FATAL ERROR: JavaScript heap out of memory', 134, 'out_of_memory'],
  ['something else', 3, 'exited'],
])('%s', (stderr, code, cause) => {
  const reason = explainExit({ name: 'x', command: 'npx', code, signal: null, stderr: stderr.split('\n') });
  expect(reason.code).toBe(cause);
  expect(reason.message).toContain(`exit code ${code}`);
  if (stderr !== '') expect(reason.message + reason.repair).not.toContain(stderr);
  expect(reason.repair).not.toBe('');
});

test('a signal, and an end without stderr', () => {
  expect(explainExit({ name: 'x', command: 'x', code: null, signal: 'SIGKILL', stderr: [] })).toMatchObject({
    code: 'killed',
    message: expect.stringContaining('the signal SIGKILL'),
  });
  expect(explainExit({ name: 'x', command: 'x', code: 0, signal: null, stderr: [] })).toMatchObject({
    message: expect.stringContaining('wrote nothing'),
    repair: 'Try the same command by hand on the machine of the runtime.',
  });
});

test.each([
  [
    'or set the DB_ACCESS_TOKEN environment variable',
    'the setting DB_ACCESS_TOKEN is missing',
    'svc server update db --env DB_ACCESS_TOKEN',
  ],
  [
    'Either DB_KEY or DB_OAUTH is required (DB_KEY is better)',
    'a setting is missing, such as DB_KEY',
    'svc server update db --env DB_KEY',
  ],
  [
    'Error: No access token was provided.\nPass --token / DB_TOKEN.\nOTHER_ONE of the usage',
    'the setting DB_TOKEN is missing',
    'svc server update db --env DB_TOKEN',
  ],
  ['ERR_INVALID_ARG: API key is required', 'a setting is missing', 'svc server logs db'],
  ['API key is required: sk_LIVE_abc', 'a setting is missing', '--env NAME.'],
  [
    'the current Python version (3.11.7) does not satisfy Python>=3.12.1 and',
    'the package needs Python 3.12 or newer',
    'uvx --python 3.12 PACKAGE',
  ],
  ['all of:\n  db>=1\ndepend on Python>=3.13, we can', 'the package needs Python 3.13 or newer', 'uvx --python 3.13'],
  ['Usage: db PATH', 'its arguments are missing or wrong', 'svc server update db -- COMMAND'],
  ['something else', 'it failed', 'with svc server logs db.'],
])('%s: its cause and its repair', (stderr, what, repair) => {
  const exit = { name: 'db', command: 'npx', code: 1, signal: null, stderr: stderr.split('\n') };
  const reason = explainExit(exit);
  expect(reason.message).toBe(`"npx" ended with exit code 1: ${what}.`);
  expect(reason.repair).toContain(repair);
});

test('a program that cannot be started at all', () => {
  const error = Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' });
  expect(explainSpawnError('x', error).code).toBe('command_not_found');
  expect(explainSpawnError('x', new Error('?')).code).toBe('not_started');
  expect(explainSpawnError('x', error).message).toMatch(/the PATH of the runtime has no such command\.$/);
  expect(explainSpawnError('uvx', error).message).toMatch(/no such command\. It is part of uv\.$/);
});

test('a full path that leads to no program is not searched on the PATH', () => {
  for (const code of ['ENOENT', 'ENOTDIR']) {
    const { message, repair } = explainSpawnError('/no/such/binary', Object.assign(new Error(), { code }));
    expect(message).toContain('"/no/such/binary": this file does not exist on the machine of the runtime');
    expect(message + repair).not.toMatch(/PATH|full path/);
  }
  const { message } = explainSpawnError('/etc/hosts', Object.assign(new Error(), { code: 'EACCES' }));
  expect(message).toContain('the file is not executable');
});

test.each(['A', 'usage:', '#', 'error ', 'npm error ', 'Set the A_B ', 'depends on Python ', 'token '])(
  'the longest last words are read in a moment: %j',
  (word) => {
    const stderr = Array<string>(20).fill(word.repeat(1000).slice(0, 1000));
    const times = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      explainExit({ name: 'x', command: 'x', code: 1, signal: null, stderr });
      return process.cpuUsage(before).user / 1000;
    });
    // Milliseconds. A pattern that reads the words again from each position takes more than 50.
    expect(Math.min(...times)).toBeLessThan(25);
  },
);
