import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { forgetInstallation, knownInstallations, listedMax, noteInstallation } from './known-installations.ts';

const home = folderOfEachTest();
const inHome = () => ({ HOME: home() });
const listDir = () => join(home(), '.local/state/svc/installations');
const one = { id: 'abcdefgh01234567', name: 'tools', dir: '/srv/tools', docker: null };
const two = { id: 'zyxwvuts01234567', name: 'trial', dir: '/srv/trial', docker: '/run/docker.sock' };

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Writes a file into the list, as another program could. */
function put(name: string, text: string): void {
  mkdirSync(listDir(), { recursive: true, mode: 0o700 });
  writeFileSync(join(listDir(), name), text);
}

test('an installation is noted once, in a private file of its own, until it is forgotten', () => {
  for (const installation of [one, two, one]) noteInstallation(installation, inHome());
  expect(knownInstallations(inHome())).toEqual([one, two]);
  expect(readdirSync(listDir()).sort()).toEqual([`${one.id}.json`, `${two.id}.json`]);
  expect([modeOf(listDir()), modeOf(join(listDir(), `${one.id}.json`))]).toEqual(['700', '600']);
  noteInstallation({ ...one, dir: '/srv/moved' }, inHome());
  expect(knownInstallations(inHome())[0]?.dir).toBe('/srv/moved');
  forgetInstallation(one.id, inHome());
  expect(knownInstallations(inHome())).toEqual([two]);
});

test('XDG_STATE_HOME moves the list, unless it is relative', () => {
  const state = join(home(), 'state');
  noteInstallation(one, { ...inHome(), XDG_STATE_HOME: state });
  expect(readdirSync(join(state, 'svc/installations'))).toEqual([`${one.id}.json`]);
  noteInstallation(two, { ...inHome(), XDG_STATE_HOME: 'state' });
  expect(readdirSync(listDir())).toEqual([`${two.id}.json`]);
});

test('a list that other users can read is closed, and a draft of a killed command is removed', () => {
  const noProcess = 2 ** 22 + 1;
  put(`${two.id}.json.${noProcess}-01234567.draft`, '{');
  chmodSync(listDir(), 0o755);
  noteInstallation(one, inHome());
  expect([modeOf(listDir()), readdirSync(listDir())]).toEqual(['700', [`${one.id}.json`]]);
});

test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['the id of another file', JSON.stringify({ ...one, id: two.id })],
  ['an id that is a path', JSON.stringify({ ...one, id: '../../../x' })],
  ['a relative folder', JSON.stringify({ ...one, dir: 'srv/tools' })],
  ['a folder that is too long', JSON.stringify({ ...one, dir: `/${'x'.repeat(5000)}` })],
  ['a name that is too long', JSON.stringify({ ...one, name: 'x'.repeat(64) })],
  ['a folder that is no text', JSON.stringify({ ...one, dir: ['/srv'] })],
  ['a socket that is no path', JSON.stringify({ ...one, docker: 'tcp://elsewhere' })],
  ['more than such a file has', JSON.stringify({ more: 'x'.repeat(20_000), ...one })],
])('an entry with %s is left out', (_, text) => {
  noteInstallation(two, inHome());
  put(`${one.id}.json`, text);
  expect(knownInstallations(inHome())).toEqual([two]);
});

test('a link, a pipe and a folder in the list are left out, and nothing waits for them', () => {
  noteInstallation(two, inHome());
  writeFileSync(join(home(), 'elsewhere.json'), JSON.stringify(one));
  symlinkSync(join(home(), 'elsewhere.json'), join(listDir(), `${one.id}.json`));
  mkdirSync(join(listDir(), 'aaaaaaaa.json'));
  spawnSync('mkfifo', [join(listDir(), 'bbbbbbbb.json')]);
  expect(knownInstallations(inHome())).toEqual([two]);
});

test('a list without end is not read to its end', () => {
  for (let at = 0; at <= listedMax; at++) {
    const id = `id${String(at).padStart(8, '0')}`;
    put(`${id}.json`, JSON.stringify({ ...one, id }));
  }
  expect(knownInstallations(inHome())).toHaveLength(listedMax);
});

test('a link at the place of an entry is replaced, and its target is not written', () => {
  const target = join(home(), 'target');
  writeFileSync(target, 'of a person');
  put('x', '');
  symlinkSync(target, join(listDir(), `${one.id}.json`));
  noteInstallation(one, inHome());
  expect([readFileSync(target, 'utf8'), knownInstallations(inHome())]).toEqual(['of a person', [one]]);
});

test.each([
  ['without a home', () => ({})],
  ['with a relative home', () => ({ HOME: 'home' })],
  ['with a home that is a file', () => ({ HOME: join(home(), 'file') })],
  ['with a home on which nothing can be created', () => ({ HOME: '/proc/self' })],
])('%s there is no list, and no error', (_, env) => {
  writeFileSync(join(home(), 'file'), '');
  noteInstallation(one, env());
  forgetInstallation(one.id, env());
  expect(knownInstallations(env())).toEqual([]);
});

test.runIf(process.geteuid?.() === 0)('a home of another user, for root, has no list', () => {
  chownSync(home(), 65_534, 65_534);
  noteInstallation(one, inHome());
  expect(readdirSync(home())).toEqual([]);
  chownSync(home(), 0, 0);
});
