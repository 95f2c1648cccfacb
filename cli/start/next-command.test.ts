import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationIn } from '../../stack/state/installation.ts';
import { nextCommand } from './next-command.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'svc-next-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function next(words: string, dir: string, env: Record<string, string> = {}): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'svc.yaml'), '');
  return nextCommand(words, { installation: installationIn(dir), env, cwd });
}

test('--dir is left out if svc finds the installation from here', () => {
  expect(next('up', join(cwd, 'svc'))).toBe('svc up');
  expect(next('up', join(cwd, 'other'), { SVC_DIR: join(cwd, 'other') })).toBe('svc up');
});

test('any other flag goes before the arguments of another program, quoted for the shell', () => {
  expect(next('up', join(cwd, 'other'))).toBe('svc up --dir other');
  expect(next('server add x -- npx -y y', join(cwd, 'my tools'))).toBe("svc server add x --dir 'my tools' -- npx -y y");
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'svc-next-')));
  expect(next('up', outside)).toBe(`svc up --dir ${outside}`);
  rmSync(outside, { recursive: true });
});
