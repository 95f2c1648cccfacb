import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-old-'));
  mkdirSync(join(dir, 'project', 'docs'), { recursive: true });
  cpSync(
    new URL('../svc.cjs', import.meta.url).pathname,
    join(dir, 'project', 'node_modules', 'svc-platform', 'svc.cjs'),
  );
  writeFileSync(join(dir, 'old.cjs'), "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The output of svc under Node 20 in that folder. */
function typedIn(cwd: string, ...args: string[]): Promise<{ code: unknown; signal: unknown; stderr: string }> {
  const command = ['--require', join(dir, 'old.cjs'), join(dir, 'project', 'node_modules', 'svc-platform', 'svc.cjs')];
  return new Promise((resolve) => {
    execFile(process.execPath, [...command, ...args], { cwd }, (error, _stdout, stderr) =>
      resolve({ code: error?.code, signal: error?.signal, stderr }),
    );
  });
}

test('the hint for an installed svc names a local Node, or Node 24 for one command', async () => {
  const { code, stderr } = await typedIn(join(dir, 'project'), 'init', '--yes');
  expect(stderr).toContain(
    'svc needs Node 24 or newer; this is Node 20.20.2. Give this folder one of its own, once:\n\n  npm install node@24\n\n',
  );
  expect(stderr).toContain("  npx -y -p node@24 -c 'svc init --yes'\n");
  expect(code).toBe(2);
});

test('the hint is the same in a subfolder, where npx finds it too', async () => {
  const { stderr } = await typedIn(join(dir, 'project', 'docs'), 'up');
  expect(stderr).toContain('  npm install node@24\n');
  expect(stderr).toContain("  npx -y -p node@24 -c 'svc up'\n");
});

test('outside of it, Node 24 runs the installed file, and words are quoted for the shell', async () => {
  const { stderr } = await typedIn(dir, 'server', 'add', 'x', '--url', 'http://a/b c');
  expect(stderr).not.toContain('npm install');
  const file = join(realpathSync(dir), 'project', 'node_modules', 'svc-platform', 'svc.cjs');
  expect(stderr).toContain(`  npx -y -p node@24 -c 'node ${file} server add x --url '\\''http://a/b c'\\'''\n`);
});

test('a Node 24 that is installed beside it runs the command, with its exit code and signal', async () => {
  const node = join(dir, 'project', 'node_modules', 'node');
  const install = (version: string) => {
    mkdirSync(join(node, 'bin'), { recursive: true });
    writeFileSync(join(node, 'package.json'), JSON.stringify({ version }));
    writeFileSync(join(node, 'bin', 'node'), '#!/bin/sh\necho "$@" >&2\ntest "$3" != down || kill -TERM $$\nexit 7\n');
    chmodSync(join(node, 'bin', 'node'), 0o755);
  };
  install('22.1.0');
  expect((await typedIn(dir, 'up')).stderr).toContain('svc needs Node 24 or newer');
  install('24.4.1');
  expect(await typedIn(dir, 'up', '--json')).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/^-- \S+svc\.cjs up --json\n$/),
  });
  expect(await typedIn(dir, 'down')).toMatchObject({ code: null, signal: 'SIGTERM' });
});

test('where npx fetched it, npx fetches Node 24 beside it', async () => {
  const fetched = join(dir, '_npx', 'ab12', 'node_modules', 'svc-platform');
  cpSync(new URL('../svc.cjs', import.meta.url).pathname, join(fetched, 'dist', 'svc.cjs'));
  writeFileSync(join(fetched, 'package.json'), JSON.stringify({ name: 'svc-platform', version: '1.2.3' }));
  const typed = ['--require', join(dir, 'old.cjs'), join(fetched, 'dist', 'svc.cjs'), 'runtime', 'start'];
  const stderr = await new Promise((resolve) => {
    execFile(process.execPath, [...typed, '--variable-file', 'a b.env'], { cwd: dir }, (_error, _out, said) =>
      resolve(said),
    );
  });
  expect(stderr).toBe(
    'svc needs Node 24 or newer; this is Node 20.20.2.\nFetch one for this command, which leaves your own Node as it is:\n\n' +
      "  npx -y -p node@24 -p svc-platform@1.2.3 svc runtime start --variable-file 'a b.env'\n",
  );
});
