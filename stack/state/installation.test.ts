import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { findInstallation, folderForNew, getInstallation } from './installation.ts';

const root = folderOfEachTest();

function installationAt(...path: string[]): string {
  const dir = join(root(), ...path);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'svc.yaml'), '');
  return dir;
}

test('--dir wins over SVC_DIR, which wins over the nearest parent, which wins over ./svc', () => {
  const named = installationAt('named');
  const byEnv = installationAt('env');
  const above = installationAt('above');
  const cwd = join(above, 'deep', 'er');
  installationAt('above', 'deep', 'er', 'svc');
  mkdirSync(cwd, { recursive: true });
  expect(findInstallation({ dir: '../../../named', env: { SVC_DIR: byEnv }, cwd })?.dir).toBe(named);
  expect(findInstallation({ env: { SVC_DIR: byEnv }, cwd })?.dir).toBe(byEnv);
  expect(findInstallation({ env: { SVC_DIR: '' }, cwd })?.dir).toBe(above);
  const below = installationAt('elsewhere', 'svc');
  expect(findInstallation({ env: {}, cwd: join(root(), 'elsewhere') })?.dir).toBe(below);
});

test('without one, the error lists the searched places, and a folder named svc.yaml is none', () => {
  mkdirSync(join(root(), 'svc.yaml'));
  expect(findInstallation({ env: {}, cwd: root() })).toBeNull();
  expect(() => getInstallation({ env: {}, cwd: root() })).toThrow(/svc\.yaml" is a folder/);
  expect(() => getInstallation({ env: {}, cwd: join(root(), 'elsewhere') })).toThrow(/No installation was found/);
  expect(() => getInstallation({ dir: 'nothing', env: {}, cwd: root() })).toThrow(/nothing" is not an installation/);
});

test('a new one is created in the named folder, else in ./svc', () => {
  expect(folderForNew({ env: {}, cwd: root() })).toBe(join(root(), 'svc'));
  expect(folderForNew({ dir: 'x', env: {}, cwd: root() })).toBe(join(root(), 'x'));
});

test.each([
  ['outside', '.'],
  ['../outside', 'x'],
])('a folder that contains one in ./svc finds it, with the path as typed: %s', (dir, from) => {
  installationAt('outside', 'svc');
  const meant = { hint: `Did you mean "${join(dir, 'svc')}"?` };
  expect(() => getInstallation({ dir, env: {}, cwd: join(root(), from) })).toThrow(expect.objectContaining(meant));
});
