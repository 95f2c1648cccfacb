import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { Platform, script } from './platform.ts';
import { canSandbox, confining, sandboxing } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

type Try = readonly [what: 'read' | 'write', file: string];

async function attempt(platform: Platform, name: string, ...tries: readonly Try[]): Promise<readonly string[]> {
  await platform.connected(name);
  return JSON.parse(await platform.say(name, { tries }));
}

const cacheOf = (platform: Platform, author: Author) =>
  path.join(platform.workingDir, author === 'member' ? 'member-caches' : 'caches', platform.workspace ?? '', 'planted');

describe.runIf(canSandbox)('the cache of package managers in sandboxes', () => {
  test('is shared by the commands of one workspace, and by no other', async () => {
    await using platform = await Platform.open();
    platform.workspace = newId('workspace');
    const file = cacheOf(platform, 'member');
    platform.assign({ one: script('curious'), two: script('curious') }, 'member');
    await platform.startRuntime(confining);
    expect(await attempt(platform, 'one', ['write', file])).toEqual(['done']);
    expect(await attempt(platform, 'two', ['read', file])).toEqual(['written']);
    platform.workspace = newId('workspace');
    platform.assign({ one: script('curious'), other: script('curious') }, 'member');
    expect(await attempt(platform, 'other', ['read', file], ['write', file])).toEqual(['ENOENT', 'ENOENT']);
  });

  test("of members is not an operator's, in a sandbox or without one", async () => {
    await using platform = await Platform.open();
    platform.workspace = newId('workspace');
    const file = cacheOf(platform, 'member');
    platform.assign({ one: script('curious') }, 'member');
    const confined = await platform.startRuntime(sandboxing);
    expect(await attempt(platform, 'one', ['write', file])).toEqual(['done']);
    platform.assign({ two: script('curious') }, 'operator');
    expect(await attempt(platform, 'two', ['read', file])).toEqual(['ENOENT']);
    await confined.stop();
    platform.assign({ three: script('echo') }, 'operator');
    await platform.startRuntime();
    await platform.connected('three');
    const { env } = JSON.parse(await platform.say('three', {}, 'environment'));
    expect(JSON.stringify(env)).not.toContain('caches');
  });

  test('is removed with the last MCP server of its workspace', async () => {
    await using platform = await Platform.open();
    platform.workspace = newId('workspace');
    const file = cacheOf(platform, 'member');
    platform.assign({ one: script('curious'), two: script('curious') }, 'member');
    await platform.startRuntime(confining);
    expect(await attempt(platform, 'one', ['write', file])).toEqual(['done']);
    await platform.connected('two');
    platform.remove('one');
    await gone(path.join(platform.workingDir, 'member-homes', platform.idOf('one')));
    expect(existsSync(file)).toBe(true);
    platform.remove('two');
    await gone(path.dirname(file));
  });
});

async function gone(folder: string): Promise<void> {
  while (existsSync(folder)) await pause(5);
}
