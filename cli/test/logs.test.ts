import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';

let cwd = '';
const svc = (...args: string[]) => runSvc(args, { cwd });
const written = Date.parse('2026-03-04T05:06:07.089Z');

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-logs-'));
  await svc('init', '--yes');
  mkdirSync(join(cwd, 'svc/logs'), { recursive: true });
  const lines = [1, 2, 3].map((n) => JSON.stringify({ level: 30, time: written + n, msg: `line ${n}` }));
  writeFileSync(join(cwd, 'svc/logs/backend.log'), `${lines.join('\n')}\n`);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test('the number of last lines is the requested one, including zero', async () => {
  const { stdout } = await svc('logs', '-n', '2');
  expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/line 2$/), expect.stringMatching(/line 3$/)]);
  const none = await svc('logs', '-n', '0');
  expect(none).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a search without a matching line says so beside the result', async () => {
  for (const filter of [
    ['--request', 'xyz'],
    ['--since', '1s'],
  ]) {
    expect(await svc('logs', ...filter)).toEqual({ code: 0, stdout: '', stderr: 'No lines match.\n' });
  }
  const asJson = await svc('logs', '--request', 'xyz', '--json', '--quiet');
  expect([JSON.parse(asJson.stdout), asJson.stderr]).toEqual([{ lines: [] }, '']);
});

test('programs get times in the usual format', async () => {
  const { stdout } = await svc('logs', '-n', '1', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ lines: [{ time: '2026-03-04T05:06:07.092Z', message: 'line 3' }] });
});
