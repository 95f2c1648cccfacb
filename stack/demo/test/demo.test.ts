import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { hasTerminal } from '../../../cli/test/run-at-terminal.ts';
import { parseKey } from '../../../services/contracts/keys.ts';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { ping, send } from '../../../services/remote-mcp/test/raw.ts';
import { isFree } from '../../machine/is-free.ts';
import { readLease } from '../../ports/port-lease.ts';
import { installationIn } from '../../state/installation.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { processesOf } from '../../test/running-processes.ts';
import { StartedProgram } from '../../test/started-program.ts';
import { until } from '../../test/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const dir = folderOfEachTest();

const program = fileURLToPath(new URL('../start.ts', import.meta.url));

/** Runs `npm start` in an empty folder. */
function start(): StartedProgram {
  return new StartedProgram(spawn(process.execPath, [program], { cwd: dir(), stdio: ['ignore', 'pipe', 'pipe'] }));
}

async function greeted(started: StartedProgram) {
  await until(() => {
    if (started.child.exitCode !== null) throw new Error(started.stderr);
    return /^ {2}\}$/m.test(started.stdout);
  }, 50_000);
  const [app = '', mcp = '', key = ''] = ['app', 'mcp', 'key'].map(
    (name) => new RegExp(`^  ${name} {3}(\\S+)`, 'm').exec(started.stdout)?.[1],
  );
  return { app, mcp, key };
}

const statusOf = async ({ mcp, key }: { mcp: string; key: string }) => (await send(mcp, { key, body: ping })).status;

test('it prints addresses, a working key and snippets; Ctrl-C leaves nothing; the next start replaces the key', async () => {
  const first = start();
  const one = await greeted(first);
  expect(parseKey(one.key)).toMatchObject({ ok: true, kind: 'user' });
  expect(await statusOf(one)).toBe(200);
  expect(first.stdout).toContain(
    `claude mcp add --transport http platform ${one.mcp} --header "Authorization: Bearer ${one.key}"`,
  );
  // Only a terminal shows a link that signs in: a file would keep it.
  expect(first.stdout).not.toContain('#token=');
  expect(processesOf(join(dir(), 'svc'))).not.toEqual([]);
  expect(await first.end('SIGINT')).toBe(0);
  expect(first.stdout).not.toContain('revoked');
  expect(first.stdout).toMatch(/\nStopped; all data stays in \.\/svc\.\n$/);
  expect(processesOf(join(dir(), 'svc'))).toEqual([]);
  for (const port of Object.values(readLease(installationIn(join(dir(), 'svc'))))) {
    expect(await isFree('127.0.0.1', port), String(port)).toBe(true);
  }

  const second = start();
  const two = await greeted(second);
  expect(two.key).not.toBe(one.key);
  expect(second.stdout).toContain('made by this start; the previous one is revoked');
  const third = start();
  expect(await third.end()).toBe(1);
  expect(third.stderr).toBe(
    `The platform runs already (pid ${second.child.pid}, in the foreground of another terminal): ${two.app}\nPress Ctrl-C there to stop it.\n`,
  );
  expect([await statusOf(two), await statusOf({ ...two, key: one.key })]).toEqual([200, 401]);
  // A closed terminal sends SIGHUP, and its shell sends it again.
  second.child.kill('SIGHUP');
  await until(() => readFileSync(join(dir(), 'svc/logs/platform.log'), 'utf8').split('"stopping"').length === 3);
  expect(await second.end('SIGHUP')).toBe(0);
});

test.skipIf(!hasTerminal)('on a terminal it prints a link that signs the owner in', async () => {
  // Some shells stay between, and Ctrl-C ends them as well.
  const command = `exec ${[process.execPath, program].map(shellWord).join(' ')}`;
  const args = ['--quiet', '--flush', '--return', '--command', command, '/dev/null'];
  const started = new StartedProgram(spawn('script', args, { cwd: dir(), stdio: 'pipe' }));
  const seen = () => started.stdout.replaceAll('\r', '');
  await until(() => {
    if (started.child.exitCode !== null) throw new Error(started.stdout);
    return /^Sign in, once, within an hour: \S+$/m.test(seen());
  }, 50_000);
  const [, app = ''] = /^ {2}app {3}(\S+)/m.exec(seen()) ?? [];
  expect(seen()).toMatch(new RegExp(`^Sign in, once, within an hour: ${app}/sign-in#token=\\S+$`, 'm'));
  started.child.stdin?.write('\u0003');
  expect(await started.end()).toBe(0);
});
