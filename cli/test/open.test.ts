import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** The sign-in link in the private file that the browser is given. */
function linkIn(fileUrl: string): string {
  const file = fileURLToPath(fileUrl);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return /href="([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
}

/** The person that a sign-in link is for. */
async function personOf(link: string): Promise<string> {
  const { origin, hash } = new URL(link);
  const { api } = JSON.parse((await platform.svc('status', '--json')).stdout).urls;
  const response = await fetch(`${api}/account/link`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token: hash.slice('#token='.length) }),
  });
  return ((await response.json()) as { user: { email: string } }).user.email;
}

test('opens the page signed in, as the owner or another person, with the opener of the system', async () => {
  const env = withOpener(`printf '%s\\n' "$#" "$1" > ${join(bin, 'told')}`);
  const { app } = JSON.parse((await platform.svc('status', '--json')).stdout).urls;
  await platform.svc('user', 'create', 'ann@example.com');
  for (const [args, email] of [
    [[], 'owner@localhost'],
    [['--user', 'ann@example.com'], 'ann@example.com'],
  ] as const) {
    const { code, stdout, stderr } = await open(args, env);
    expect([code, stdout, stderr]).toEqual([0, `${app}\n`, `It is open in the browser, as ${email}.\n`]);
    const [count, opened = ''] = readFileSync(join(bin, 'told'), 'utf8').split('\n');
    expect(count).toBe('1');
    // Other users of the machine read the arguments of programs.
    expect(opened).toMatch(/^file:/);
    expect(opened).not.toContain('token');
    expect(await personOf(linkIn(opened))).toBe(email);
  }
  expect(await open(['--user', 'nobody@example.com'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no person with the address "nobody@example.com".'),
  });
});

test('opens the API', async () => {
  const env = withOpener(`printf '%s\\n' "$#" "$1" > ${join(bin, 'told')}`);
  const { api } = JSON.parse((await platform.svc('status', '--json')).stdout).urls;
  expect(await open(['api'], env)).toMatchObject({ code: 0, stdout: `${api}\n`, stderr: '' });
  expect(readFileSync(join(bin, 'told'), 'utf8')).toBe(`1\n${api}\n`);
});

test('an opener that stays is left running', async () => {
  const { code, stdout } = await open(['--json'], withOpener('exec sleep 30'));
  const opened = { what: 'app', opened: true, reason: null, link: null };
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining(opened)]);
}, 30_000);

test.skipIf(process.platform === 'darwin')('without a display the link is printed', async () => {
  const { code, stdout, stderr } = await open([], {});
  expect([code, await personOf(stdout.trim())]).toEqual([0, 'owner@localhost']);
  expect(stderr).toBe(
    'It was not opened, because this session has no display. The link signs owner@localhost in, once, within an hour.\n',
  );
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
