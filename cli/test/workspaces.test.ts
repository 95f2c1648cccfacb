import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { becomesTrue } from '../../stack/machine/becomes-true.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const svc = (line: string, ...more: string[]) => platform.svc(...line.split(' '), ...more);
const json = async (line: string) => JSON.parse((await svc(`${line} --json`)).stdout);
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('commands work in the workspace in use, and say so', async () => {
  expect((await svc('workspace create Acme --owner-email ann@acme.example')).stdout).toBe(
    'Created workspace Acme, owned by ann@acme.example.\n',
  );
  expect((await svc('skill create of-default')).stderr).not.toContain('In the workspace');
  expect((await svc('workspace use Acme')).stdout).toBe('Commands work in the workspace Acme now.\n');
  const file = join(platform.dir(), 'state/workspace.json');
  expect([JSON.parse(readFileSync(file, 'utf8')), statSync(file).mode & 0o777]).toEqual([{ name: 'Acme' }, 0o600]);

  const created = await svc('skill create of-acme');
  expect(created.stderr).toMatch(/^In the workspace Acme\.\n/);
  expect((await svc('skill create quiet --quiet')).stderr).toBe('');
  const namesIn = async (line: string, env: Record<string, string> = {}) => {
    const { stdout } = await runSvc([...line.split(' '), '--json'], { cwd: platform.dir(), env });
    return JSON.parse(stdout).skills.map(({ name }: { name: string }) => name);
  };
  expect(await namesIn('skill list')).toEqual(['of-acme', 'quiet']);
  expect(await namesIn('skill list', { SVC_WORKSPACE: 'Default' })).toEqual(['of-default']);
  expect(await namesIn('skill list --workspace Acme', { SVC_WORKSPACE: 'Default' })).toEqual(['of-acme', 'quiet']);

  expect((await svc('workspace update Acme --name Ajax')).stdout).toBe('Changed workspace Ajax: name.\n');
  expect(await namesIn('skill list')).toEqual(['of-acme', 'quiet']);
  expect(await json('workspace list')).toMatchObject({
    workspaces: [
      { name: 'Ajax', owner: 'ann@acme.example', inUse: true, suspended: false },
      { name: 'Default', inUse: false },
    ],
  });
  expect((await json('user list')).users).toContainEqual({
    ...{ email: 'ann@acme.example', name: 'ann' },
    workspaces: [{ name: 'Ajax', role: 'owner', suspended: false }],
  });
  expect(await json('workspace update Ajax --suspend')).toMatchObject({ changed: ['suspended'] });
  expect(await json('workspace update Ajax --resume')).toMatchObject({ changed: ['suspended'] });
}, 60_000);

test('a workspace is removed with its MCP servers and keys, after its name was typed', async () => {
  const pidFile = join(platform.dir(), 'pid');
  const script = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); import(${JSON.stringify(demo)})`;
  expect(await svc('server add demo --', process.execPath, '-e', script)).toMatchObject({ code: 0 });
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const { key } = await json('keys create --name agent');
  const testKey = () => runSvc(['keys', 'test'], { cwd: platform.dir(), env: { SVC_API_KEY: key } });
  expect(await testKey()).toMatchObject({ code: 0 });

  const unasked = await svc('workspace remove Ajax');
  expect(unasked.stderr).toContain('removes 1 MCP server, 2 skills, 1 key, its files, usage and history.');
  expect(unasked.stderr).toContain('Without a terminal, add --confirm Ajax.');
  expect(unasked.code).toBe(2);
  const wrong = await svc('workspace remove Ajax --confirm Default');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('The name of this workspace is "Ajax"') });
  expect(isAlive(pid)).toBe(true);

  expect(await json('workspace remove Ajax --confirm Ajax')).toMatchObject({ name: 'Ajax', removed: true });
  expect(await becomesTrue(() => !isAlive(pid), { timeoutMs: 20_000, pauseMs: 50 })).toBe(true);
  const refused = await testKey();
  expect(refused).toMatchObject({ code: 3 });
  // The workspace in use is gone, so commands return to the first one.
  expect((await json('skill list')).skills).toMatchObject([{ name: 'of-default' }]);
  expect((await svc('workspace use Ajax')).stderr).toContain('There is no workspace "Ajax".');
  expect((await svc('workspace create Ajax')).code).toBe(0);
}, 90_000);

test('the last workspace may be removed, and another created', async () => {
  await svc('workspace remove Ajax --confirm Ajax');
  const { stderr, code } = await svc('workspace remove Default --confirm Default');
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('It was the last one. Create another: svc workspace create NAME'),
  ]);
  expect((await svc('skill list')).stderr).toContain('There is no workspace "Default".');
  expect((await svc('workspace list')).stdout).toBe('There are no workspaces. Create one: svc workspace create NAME\n');
  expect((await svc('up')).code).toBe(0);
  expect((await svc('workspace create Again')).code).toBe(0);
}, 60_000);
