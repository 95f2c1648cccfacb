import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdProcess } from './held-process.ts';

let dir = '';
let umask = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-held-'));
  umask = process.umask(0o002);
});
afterAll(() => {
  process.umask(umask);
  rmSync(dir, { recursive: true, force: true });
});

test.each([
  { isClosed: true, mode: 0o600 },
  { isClosed: false, mode: 0o664 },
])('a process makes files of mode $mode where closed is $isClosed', async ({ isClosed, mode }) => {
  const file = join(dir, `${isClosed}`);
  const where = { env: { PATH: process.env.PATH ?? '' }, cwd: dir, log: join(dir, 'log') };
  const held = holdProcess({ program: '/bin/sh', args: ['-c', `: > "${file}"`], ...where, isClosed });
  held.begin();
  await held.ended;
  expect(statSync(file).mode & 0o777).toBe(mode);
});
