import { expect, test } from 'vitest';
import { explainExit, explainSpawnError } from './explain-exit.ts';

test.each([
  ['npm error code E404\nnpm error 404 Not Found - GET', 1, 'package_not_found'],
  ['npm error code ETARGET', 1, 'package_not_found'],
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
  ["EACCES: permission denied, open '/data/x'", 1, 'permission_denied'],
  ["ENOENT: no such file or directory, stat '/nowhere'", 1, 'file_not_found'],
  ['FATAL ERROR: JavaScript heap out of memory', 134, 'out_of_memory'],
  ['something else', 3, 'exited'],
])('%s', (stderr, code, cause) => {
  const reason = explainExit({ command: 'npx', code, signal: null, stderr: stderr.split('\n') });
  expect(reason.code).toBe(cause);
  expect(reason.message).toContain(`exit code ${code}`);
  if (stderr !== '') expect(reason.message + reason.repair).not.toContain(stderr);
  expect(reason.repair).not.toBe('');
});

test('a signal, and an end without stderr', () => {
  expect(explainExit({ command: 'x', code: null, signal: 'SIGKILL', stderr: [] })).toMatchObject({
    code: 'killed',
    message: expect.stringContaining('the signal SIGKILL'),
  });
  expect(explainExit({ command: 'x', code: 0, signal: null, stderr: [] }).message).toContain('wrote nothing');
});

test('a program that cannot be started at all', () => {
  const error = Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' });
  expect(explainSpawnError('x', error).code).toBe('command_not_found');
  expect(explainSpawnError('x', new Error('?')).code).toBe('not_started');
  expect(explainSpawnError('x', error).message).toContain('the PATH of the runtime has no such command');
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
