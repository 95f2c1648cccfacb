import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorityPaths, commandPaths, programPaths } from './machine-paths.ts';

let dir = '';
const at = (...parts: string[]) => path.join(dir, ...parts);

beforeAll(async () => {
  dir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-machine-')));
  for (const folder of [
    'project/node_modules/.bin',
    'project/node_modules/tool',
    'home/.bin',
    'venv/bin',
    'node/bin',
    'pyenv/shims',
    'bin',
  ])
    await mkdir(at(folder), { recursive: true });
  for (const file of ['venv/pyvenv.cfg', 'venv/bin/served', 'project/node_modules/tool/cli.js', 'bin/plain'])
    await writeFile(at(file), '');
  await symlink(at('venv/bin/served'), at('bin/served'));
  await symlink('../tool/cli.js', at('project/node_modules/.bin/tool'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('folders on the PATH are shown with the packages of their programs', async () => {
  const searchPath = ['project/node_modules/.bin', 'venv/bin', 'node/bin', 'pyenv/shims']
    .map((one) => at(one))
    .join(':');
  expect(await programPaths(searchPath)).toEqual([
    ...[at('project/node_modules/.bin'), at('project/node_modules')],
    ...[at('venv/bin'), at('venv')],
    ...[at('node/bin'), at('node/lib/node_modules')],
    ...[at('pyenv/shims'), at('pyenv')],
  ]);
});

test('a home, or the whole machine, is not shown because it is on the PATH', async () => {
  expect(await programPaths(`/:${homedir()}:${path.dirname(homedir())}::.:relative:${at('nowhere')}`)).toEqual([]);
  expect(await programPaths(at('home/.bin'))).toEqual([at('home/.bin'), at('home/lib/node_modules')]);
});

test('a command is shown with its package, wherever its link leads', async () => {
  const searchPath = `${at('bin')}:${at('project/node_modules/.bin')}`;
  expect(await commandPaths('served', searchPath, dir)).toEqual([at('bin/served'), at('venv')]);
  expect(await commandPaths('tool', searchPath, dir)).toEqual([
    at('project/node_modules/.bin/tool'),
    at('project/node_modules'),
  ]);
  expect(await commandPaths('./bin/plain', searchPath, dir)).toEqual([at('bin/plain'), at('lib/node_modules')]);
  expect(await commandPaths('nowhere', searchPath, dir)).toEqual([]);
});

test('certificate authorities are shown when they are named by their full path', () => {
  expect(
    authorityPaths({ SSL_CERT_DIR: '/a:/b', NODE_EXTRA_CA_CERTS: '/c.pem', SSL_CERT_FILE: 'relative', OTHER: '/d' }),
  ).toEqual(['/c.pem', '/a', '/b']);
});
