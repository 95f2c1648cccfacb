import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-moved-')));
});
afterEach(async () => {
  await runSvc(['down', '--dir', join(folder, 'new')], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
});

test('an MCP server in the folder of the installation works where the folder is moved to', async () => {
  const svc = async (place: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runSvc(args, { cwd: join(folder, place), env: { HOME: folder } });
    expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  };
  mkdirSync(join(folder, 'old/docs'), { recursive: true });
  await svc('old', 'init', '.', '--yes', '--start');
  await svc('old/docs', 'server', 'add', 'below', '--', process.execPath, demo);
  await svc('old', 'server', 'add', 'outside', '--cwd', folder, '--', process.execPath, demo);
  await svc('old', 'down');
  renameSync(join(folder, 'old'), join(folder, 'new'));
  await svc('new', 'up');
  await svc('new', 'server', 'restart', 'below');
  const folderOf = async (name: string) => JSON.parse(await svc('new', 'server', 'show', name, '--json')).launch.cwd;
  expect(await folderOf('below')).toBe(join(folder, 'new/docs'));
  expect(await folderOf('outside')).toBe(folder);
}, 90_000);
