import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readyAt } from '../../parts/part.ts';
import { startTimeOf } from '../../state/process-identity.ts';
import { freePort } from '../../test/free-ports.ts';
import { until } from '../../test/until.ts';
import { holdProcess, lastErrors, runningProcess } from './part-process.ts';
import { usualPatience } from './patience.ts';

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

/** A process that creates this file. */
function making(file: string, isClosed: boolean) {
  const where = { env: { PATH: process.env.PATH ?? '' }, cwd: dir, log: join(dir, 'log') };
  return { program: '/bin/sh', args: ['-c', `: > "${file}"`], ...where, isClosed };
}

test.each([
  { isClosed: true, mode: 0o600 },
  { isClosed: false, mode: 0o664 },
])('a process makes files of mode $mode where closed is $isClosed', async ({ isClosed, mode }) => {
  const file = join(dir, `${isClosed}`);
  const held = holdProcess(making(file, isClosed));
  held.begin();
  await held.ended;
  expect(statSync(file).mode & 0o777).toBe(mode);
});

test('a process whose id is not recorded yet ends with its supervisor, and has done nothing', async () => {
  const file = join(dir, 'ran');
  // The program ends at the latest with the test.
  const program = `
    import { holdProcess } from ${JSON.stringify(new URL('./part-process.ts', import.meta.url).href)};
    console.log(holdProcess(${JSON.stringify(making(file, true))}).identity.pid);
    process.stdin.on('end', () => process.exit(1)).resume();`;
  const supervisor = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: supervisor.stdout }), 'line');
  expect(startTimeOf(Number(line))).not.toBeNull();
  supervisor.kill('SIGKILL');
  await until(() => startTimeOf(Number(line)) === null);
  expect(existsSync(file)).toBe(false);
});

test('the answer of another program on its port does not make a part ready', async () => {
  const port = await freePort();
  const program = `
    const { createServer } = require('node:http');
    const server = createServer((_, response) => response.end('ok')).listen(${port}, '127.0.0.1', () => console.log());
    process.stdin.resume().once('end', () => process.exit());`;
  using other = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  const ready = readyAt(`http://127.0.0.1:${port}`);
  const ended = new Promise<string>(() => undefined);
  const runs = (pid: number) => runningProcess({ pid, startTime: '' }, { ready, ended }, usualPatience);
  const { signal } = new AbortController();
  expect(await runs(other.pid ?? 0).readiness(signal)).toEqual({ ready: true });
  const missing = `port ${port} belongs to another program`;
  expect(await runs(process.pid).readiness(signal)).toEqual({ ready: false, missing });
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
