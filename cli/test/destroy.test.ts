import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createInstallation } from '../../stack/operations/create-installation.ts';
import { openTrial, platformsOf } from '../../stack/operations/test/trial.ts';
import { recordCreated } from '../../stack/state/manifest.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 120_000 });
const dir = folderOfEachTest();

const destroy = (at: string, ...more: readonly string[]) => runSvc(['destroy', '--dir', at, ...more], { cwd: dir() });

/** An installation with files in its folders, and beside them files of a person. */
async function make(name = 'tools') {
  const { installation } = await createInstallation({ dir: join(dir(), name) });
  writeFileSync(join(installation.dataDir, 'graph.sqlite'), 'x');
  mkdirSync(join(installation.dataDir, 'runtime', 'home'), { recursive: true });
  writeFileSync(join(installation.secretsDir, 'tls.key'), 'of a person');
  writeFileSync(join(installation.dir, 'notes.md'), 'of a person');
  return installation;
}

/** The file keeps the secret of a person out of git. */
const kept = ['notes.md', 'secrets', 'secrets/.gitignore', 'secrets/tls.key'];
const contentOf = (at: string) => readdirSync(at, { recursive: true }).map(String).sort();

test('svc destroy stops the platform and removes what svc created, with the folder if nothing else is in it', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  await trial.up();
  const { code, stdout, stderr } = await destroy(installation.dir, '--confirm', 'wrong');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('Nothing was removed.');
  expect(platformsOf(installation)).toHaveLength(1);
  const typed = /name of this installation is "(.+?)"/.exec(stderr)?.[1] ?? '';
  const run = await destroy(installation.dir, '--confirm', typed, '--json');
  expect([run.code, JSON.parse(run.stdout)]).toMatchObject([0, { removed: true, kept: [] }]);
  expect([platformsOf(installation), existsSync(installation.dir)]).toEqual([[], false]);
  mkdirSync(installation.dir);
});

test('files that svc did not create stay and are named, and without a terminal the name must be given', async () => {
  const installation = await make();
  // An older version recorded every file in secrets/.
  recordCreated(installation, [
    { kind: 'file', path: 'secrets/tls.key' },
    { kind: 'file', path: '../outside' },
  ]);
  writeFileSync(join(dir(), 'outside'), 'of a person');
  const unasked = await destroy(installation.dir);
  expect([unasked.code, existsSync(installation.definitionFile)]).toEqual([2, true]);
  expect(unasked.stderr).toContain('Without a terminal, add --confirm tools.');
  const run = await destroy(installation.dir, '--confirm', 'tools');
  expect([run.code, run.stdout]).toEqual([
    0,
    `The installation tools is removed. These stay in ${installation.dir}: notes.md, secrets/.gitignore, secrets/tls.key.\n`,
  ]);
  expect(contentOf(installation.dir)).toEqual(kept);
  expect(existsSync(join(dir(), 'outside'))).toBe(true);
});

test('a link and its target stay', async () => {
  const installation = await make();
  const target = join(dir(), 'disk');
  cpSync(installation.dataDir, target, { recursive: true });
  rmSync(installation.dataDir, { recursive: true });
  symlinkSync(target, installation.dataDir);
  const run = await destroy(installation.dir, '--confirm', 'tools');
  expect([run.code, run.stdout]).toEqual([
    0,
    expect.stringContaining(': data, notes.md, secrets/.gitignore, secrets/tls.key.'),
  ]);
  expect(contentOf(target)).toContain('graph.sqlite');
});

test('a copy is refused', async () => {
  const installation = await make();
  const copy = `${installation.dir}-copy`;
  cpSync(installation.dir, copy, { recursive: true });
  expect(await destroy(copy, '--confirm', 'tools')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is a copy of'),
  });
  expect(existsSync(join(copy, 'data', 'graph.sqlite'))).toBe(true);
});

test('killed before any of its removals, the next svc destroy removes the rest', async () => {
  const killAt = (count: number) => `
    const fs = require('node:fs');
    let left = ${count};
    for (const name of ['rmSync', 'rmdirSync']) {
      const { [name]: original } = fs;
      fs[name] = (...args) => { if (left-- === 0) process.kill(process.pid, 'SIGKILL'); return original(...args); };
    }
    require('node:module').syncBuiltinESMExports();`;
  let count = 0;
  for (; ; count++) {
    const installation = await make(`tools-${count}`);
    const before = join(dir(), 'before.cjs');
    writeFileSync(before, killAt(count));
    const typed = ['destroy', '--dir', installation.dir, '--confirm', `tools-${count}`];
    const { code } = await runSvc(typed, { cwd: dir(), env: { NODE_OPTIONS: `--require=${before}` } });
    if (code === null && existsSync(installation.definitionFile)) {
      expect(await runSvc(typed, { cwd: dir() })).toMatchObject({ code: 0 });
    }
    expect(contentOf(installation.dir)).toEqual(kept);
    if (code === 0) break;
  }
  expect(count).toBeGreaterThan(8);
});
