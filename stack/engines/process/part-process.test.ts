import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdProcess, lastErrors } from './part-process.ts';

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

describe('the last errors of a log', () => {
  const log = () => join(dir, 'part.log');
  const info = '{"level":"info","msg":"told"}\n';

  test.each([
    ['errors since the start', `of another\n${info}it broke\n${info}`, 'it broke'],
    ['no errors', `of another\n${info}`, null],
    ['the rest of a long line', `of another\n{"level":"info","msg":"${'x'.repeat(20_000)}"}\n${info}`, null],
  ])('%s', async (_what, text, errors) => {
    writeFileSync(log(), text);
    expect(await lastErrors(log(), 'of another\n'.length)).toBe(errors);
  });

  test('a missing log', async () => {
    expect(await lastErrors(join(dir, 'gone'), 0)).toBeNull();
  });
});
