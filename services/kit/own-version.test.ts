import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { ownVersion } from './own-version.ts';

const repository = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

test('the version is that of the package', () => {
  expect(ownVersion()).toBe(version);
});

test('every service in its own process has that version', () => {
  const programs = globSync('services/*/main.ts', { cwd: repository });
  expect(programs.length).toBe(4);
  const made = programs.map((path) => /\bversion: ([^,]+),/.exec(readFileSync(join(repository, path), 'utf8'))?.[1]);
  expect(new Set(made)).toEqual(new Set(['ownVersion()']));
});

test.each(['services/frontend/main.ts', 'dist/services/frontend/main.js'])('%s logs it', async (program) => {
  const child = spawn(process.execPath, [join(repository, program)], { env: { PORT: '0' }, stdio: 'pipe' });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const said: { msg: string; version?: string } = JSON.parse(line);
      if (said.msg !== 'listening') continue;
      expect(said.version).toBe(version);
      return;
    }
    expect.unreachable('it ended without listening');
  } finally {
    child.kill();
  }
});
