import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Platform, script } from './platform.ts';

const homeOf = (platform: Platform, name: string) => path.join(platform.workingDir, 'homes', platform.idOf(name));
/** Of an older version. */
const temporaryOf = (platform: Platform, name: string) => path.join(platform.workingDir, 'tmp', platform.idOf(name));

async function gone(folder: string): Promise<void> {
  while (existsSync(folder)) await pause(5);
}

const asked = (platform: Platform, name: string) =>
  platform.until(() => (platform.asked.includes(platform.idOf(name)) ? true : null));

test('only the home of the removed MCP server is removed', async () => {
  await using platform = await Platform.open();
  await platform.startRuntime();
  platform.assign({ one: script('says'), other: script('says') });
  await Promise.all([platform.connected('one'), platform.connected('other')]);
  await mkdir(temporaryOf(platform, 'one'), { recursive: true });
  platform.remove('one');
  await gone(homeOf(platform, 'one'));
  await gone(temporaryOf(platform, 'one'));
  expect(existsSync(homeOf(platform, 'other'))).toBe(true);
  expect((await platform.connected('other')).status).toBe('Connected');
});

test('an MCP server that no longer runs here keeps its home', async () => {
  await using platform = await Platform.open();
  const runtime = await platform.startRuntime();
  platform.assign({ one: script('says') });
  await platform.connected('one');
  platform.assign({});
  await asked(platform, 'one');
  await runtime.stop();
  expect(existsSync(homeOf(platform, 'one'))).toBe(true);
});

test('an MCP server removed while the runtime was away loses its home when the runtime is back', async () => {
  await using platform = await Platform.open();
  const before = await platform.startRuntime();
  platform.assign({ one: script('says') });
  await platform.connected('one');
  await before.stop();
  expect(existsSync(homeOf(platform, 'one'))).toBe(true);
  platform.remove('one');
  await platform.startRuntime();
  await gone(homeOf(platform, 'one'));
});

test('a runtime with a revoked key keeps all homes', async () => {
  await using platform = await Platform.open();
  const runtime = await platform.startRuntime();
  platform.assign({ one: script('says') });
  await platform.connected('one');
  platform.revoked = true;
  platform.command({ kind: 'assignments' });
  await platform.until(() =>
    platform.logOf('bus').some(({ msg }) => /failed to fetch/.test(String(msg))) ? true : null,
  );
  await runtime.stop();
  expect(existsSync(homeOf(platform, 'one'))).toBe(true);
});

test("homes of another platform's runtime in the same folder are not asked about", async () => {
  await using platform = await Platform.open();
  const foreign = newId('mcpServer');
  await mkdir(path.join(platform.workingDir, 'homes', foreign), { recursive: true });
  await platform.startRuntime();
  platform.assign({ one: script('says') });
  await platform.connected('one');
  platform.assign({});
  await asked(platform, 'one');
  expect(platform.asked).toEqual([platform.idOf('one')]);
});
