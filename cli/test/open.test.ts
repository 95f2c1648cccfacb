import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
let bin = '';
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'svc-open-'));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

/** A desktop whose opener runs this script. */
function withOpener(script: string): Record<string, string> {
  for (const name of ['xdg-open', 'open']) writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: [bin, process.env.PATH ?? ''].join(delimiter), DISPLAY: ':0' };
}

const open = (args: readonly string[], env: Record<string, string>) =>
  runSvc(['open', ...args], { cwd: platform.dir(), env });

test('opens the page, or the API, with the opener of the system', async () => {
  const env = withOpener(`printf '%s\\n' "$#" "$1" > ${join(bin, 'told')}`);
  const { app, api } = JSON.parse((await platform.svc('status', '--json')).stdout).urls;
  for (const [args, url] of [
    [[], app],
    [['api'], api],
  ] as const) {
    const { code, stdout, stderr } = await open(args, env);
    expect([code, stdout, stderr]).toEqual([0, `${url}\n`, '']);
    expect(readFileSync(join(bin, 'told'), 'utf8')).toBe(`1\n${url}\n`);
  }
});

test('an opener that stays is left running', async () => {
  const { code, stdout } = await open(['--json'], withOpener('exec sleep 30'));
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ what: 'app', opened: true, reason: null })]);
}, 30_000);

test.skipIf(process.platform === 'darwin')('without a display the address is printed', async () => {
  const { code, stdout, stderr } = await open([], {});
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/localhost:\d+\n$/)]);
  expect(stderr).toBe('It was not opened, because this session has no display. Open the address yourself.\n');
});

test('a failed opener, an unknown page and a stopped platform', async () => {
  const failed = await open(['--json'], withOpener('exit 3'));
  expect(JSON.parse(failed.stdout)).toMatchObject({
    opened: false,
    reason: expect.stringContaining('failed with exit code 3'),
  });
  expect(await open(['apo'], {})).toMatchObject({ code: 2, stderr: expect.stringContaining('must be app or api') });
  const elsewhere = join(bin, 'other');
  await runSvc(['init', elsewhere, '--yes'], { cwd: bin });
  const stopped = await open(['--dir', elsewhere], {});
  expect(stopped).toMatchObject({ code: 4, stderr: 'Error: The platform is not running.\nStart it: svc up\n' });
});
