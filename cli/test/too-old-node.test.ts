import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
function typedIn(cwd: string, ...args: string[]): Promise<{ code: unknown; stderr: string }> {
  const command = ['--require', join(dir, 'old.cjs'), join(dir, 'project', 'node_modules', 'svc-platform', 'svc.cjs')];
  return new Promise((resolve) => {
    execFile(process.execPath, [...command, ...args], { cwd }, (error, _stdout, stderr) =>
      resolve({ code: error?.code, stderr }),
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

test('outside of it, npx fetches the package as well, and words are quoted for the shell', async () => {
  const { stderr } = await typedIn(dir, 'server', 'add', 'x', '--url', 'http://a/b c');
  expect(stderr).not.toContain('npm install');
  expect(stderr).toContain("  npx -y -p node@24 -p svc-platform -c 'svc server add x --url '\\''http://a/b c'\\'''\n");
});
