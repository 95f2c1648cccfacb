import { existsSync } from 'node:fs';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Launch } from '../../contracts/bus/messages.ts';
import { Platform, script } from './platform.ts';

// These tests mostly wait for something to end.
vi.setConfig({ testTimeout: 30_000, maxConcurrency: 8 });

const command = (name: string, args: readonly string[] = []) => ({
  kind: 'child' as const,
  command: name,
  args: [...args],
  cwd: null,
  env: {},
});

describe('a failed start has a reason and a time of the next try', () => {
  const cases: readonly (readonly [string, Launch, string, RegExp])[] = [
    ['no such command', command('no-such-command-here'), 'command_not_found', /"no-such-command-here"/],
    ['a file that is not a program', command(import.meta.filename), 'not_executable', /Could not start/],
    ['no such folder', { ...command('node'), cwd: '/no/such/folder' }, 'folder_not_found', /"\/no\/such\/folder"/],
    [
      'a folder whose name fills a reason',
      { ...command('node'), cwd: `/${'x'.repeat(4050)}` },
      'folder_not_found',
      /"\/x+…" is not an existing folder/,
    ],
    ['a command as long', command('y'.repeat(4050)), 'not_started', /Could not start "y+…"/],
    ['a folder with a relative path', { ...command('node'), cwd: 'docs' }, 'folder_not_found', /"docs"/],
    ['no such module', command('node', ['/no/such/file.mjs']), 'module_not_found', /exit code 1.*module/],
    ['exits at once', script('exits', ['3', 'I have had enough']), 'exited', /exit code 3: it failed\.$/],
    [
      'a missing setting',
      script('exits', ['1', 'Error: API_KEY is required']),
      'setting_missing',
      /exit code 1.*setting/,
    ],
    ['exits without a word', script('exits', ['0']), 'exited', /exit code 0.*wrote nothing/],
    ['an argument with a null byte', command('node', ['a\0b']), 'not_started', /Could not start/],
    ['an invalid URL', { kind: 'http', url: 'ftp://x', headers: {} }, 'url_invalid', /http/],
    ['an invalid header', { kind: 'http', url: 'http://x', headers: { a: 'b\nc' } }, 'header_invalid', /"a"/],
  ];

  test.concurrent.each(cases)('%s', async (_name, launch, code, message) => {
    await using platform = await Platform.open();
    platform.assign({ one: launch });
    await platform.startRuntime();
    const report = await platform.reported('one', ({ status }) => status === 'Error');
    expect(report).toMatchObject({ health: 'red', reason: { code, message: expect.stringMatching(message) } });
    expect(report.reason?.repair).not.toBe('');
    const retried = await platform.reported('one', ({ restarts }) => restarts > 0);
    expect(retried.status).toBe('Error');
    await expect(platform.say('one', {})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('"one" is not running'),
    });
  });

  test.concurrent('without the secrets in its own output', async () => {
    await using platform = await Platform.open();
    const say = (text: string) => `process.stdout.write(${text} + process.env.TOKEN + '\\n'); process.exitCode = 1`;
    const refuse = `process.stdin.once('data', () => console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1, message: process.env.TOKEN } })))`;
    const env = { TOKEN: 't0k3n-t0k3n-t0k3n' };
    platform.assign({
      one: { ...command('node', ['-e', refuse]), env },
      two: { ...command('node', ['-e', say("'stray '")]), env },
    });
    await platform.startRuntime({ LOG_LEVEL: 'trace' });
    const one = await platform.reported('one', ({ status }) => status === 'Error');
    expect(one.reason).toMatchObject({ code: 'handshake_refused', message: expect.stringContaining('[secret]') });
    const two = await platform.reported('two', ({ status }) => status === 'Error');
    expect(two.reason?.message).toMatch(
      /ended with exit code 1: .* It wrote output that is not MCP: "stray \[secret\]"\.$/,
    );
    expect(platform.logged.join('')).toContain('stray [secret]');
    expect(platform.logged.join('')).not.toContain('t0k3n-t0k3n');
  });

  test.concurrent('and the last lines it wrote, without its secrets', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('exits', ['1', 'first line\nthe key is k3y-k3y-k3y'], { KEY: 'k3y-k3y-k3y' }) });
    await platform.startRuntime({ LOG_LEVEL: 'trace', FORWARD_STDERR: 'true' });
    const report = await platform.reported('one', ({ status }) => status === 'Error');
    expect(report.stderr).toEqual(['first line', 'the key is [secret]']);
    expect(platform.logged.join('')).not.toContain('k3y-k3y-k3y');
  });
});

test.concurrent('the delay before the next try grows', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('exits', ['1']) });
  await platform.startRuntime();
  const first = await platform.reported('one', ({ restarts, nextRetryAt }) => restarts === 0 && nextRetryAt !== null);
  const firstWait = (first.nextRetryAt ?? 0) - Date.now();
  const third = await platform.reported('one', ({ restarts, nextRetryAt }) => restarts === 2 && nextRetryAt !== null);
  expect((third.nextRetryAt ?? 0) - Date.now()).toBeGreaterThan(firstWait + 200);
});

test.concurrent('changes at the MCP server are reported once it is quiet, all pages of them', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('changing') });
  await platform.startRuntime();
  expect((await platform.connected('one')).tools.map(({ name }) => name)).toEqual(['tool_0', 'tool_1']);
  expect(await platform.say('one', {})).toBe('3');
  const changed = await platform.reported('one', ({ tools }) => tools.length === 3);
  expect(changed.tools.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'tool_2']);
  expect(JSON.parse(changed.tools[0]?.definition ?? '')).toMatchObject({
    name: 'tool_0',
    description: 'Says it again.',
  });
});

describe('a changed configuration', () => {
  test.concurrent('takes effect after running calls have ended', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('echo', ['before']) });
    await platform.startRuntime();
    const before = await platform.connected('one');
    const underWay = platform.say('one', { bytes: 5_000_000 }, 'large');
    platform.assign({ one: script('echo', ['after']) });
    expect(await underWay).toHaveLength(5_000_000);
    const after = await platform.reported(
      'one',
      (report) => report.configVersion > before.configVersion && report.status === 'Connected',
    );
    expect(after).toMatchObject({ health: 'green', restarts: 0 });
    expect(await platform.say('one', { text: 'x' })).toBe('after: x');
  });

  test.concurrent('does not wait without limit for a call that hangs', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('hang') });
    await platform.startRuntime();
    await platform.connected('one');
    const hanging = platform.callTool('one', 'echo', { text: 'hang' }, { timeoutMs: 30_000 });
    platform.assign({ one: script('echo', ['after']) });
    await expect(hanging).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('restarting'),
    });
    await platform.connected('one');
    expect(await platform.say('one', { text: 'x' })).toBe('after: x');
  });

  test.concurrent('that arrives while the last one is still starting wins', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('silent') });
    await platform.startRuntime();
    await platform.reported('one', ({ startedAt }) => startedAt !== null);
    platform.assign({ one: script('echo', ['late']) });
    await platform.connected('one');
    expect(await platform.say('one', { text: 'x' })).toBe('late: x');
  });
});

test.concurrent('an unassigned MCP server ends with its process, and starts when assigned again', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('stubborn'), two: script('echo', ['two']) });
  await platform.startRuntime();
  await platform.connected('one');
  await platform.connected('two');
  const [id, pid] = [platform.idOf('one'), Number(await platform.say('one', {}))];
  platform.assign({ two: script('echo', ['two']) });
  await platform.until(() => (platform.isReported(id) ? null : true));
  expect(await platform.say('two', { text: 'x' })).toBe('two: x');
  platform.assign({ one: script('echo', ['one']), two: script('echo', ['two']) });
  await platform.connected('one');
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test.concurrent('an MCP server that may no longer run ends with a reason, is not retried, and starts once it may', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('stubborn'), two: script('echo', ['two']) });
  await platform.startRuntime();
  const { configVersion } = await platform.connected('one');
  const two = await platform.connected('two');
  const pid = Number(await platform.say('one', {}));
  const reason = { code: 'command_refused', message: 'Refused by a setting.', repair: 'Change it.' };
  const allow = platform.refuse('one', reason);
  const refused = { status: 'Error', health: 'red', reason, nextRetryAt: null, configVersion };
  expect(await platform.reported('one', ({ status }) => status === 'Error')).toMatchObject(refused);
  await expect(platform.say('one', {})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'MCP server "one" is not running. Refused by a setting.',
    hint: 'Change it.',
  });
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  platform.command({ kind: 'restart', mcpServer: platform.idOf('one') });
  await platform.reported('one', ({ status }) => status === 'Error');
  expect(await platform.say('two', { text: 'x' })).toBe('two: x');
  expect((await platform.connected('two')).startedAt).toBe(two.startedAt);
  allow();
  expect(await platform.connected('one')).toMatchObject({ configVersion, health: 'green' });
  expect(Number(await platform.say('one', {}))).not.toBe(pid);
});

test.concurrent('a person restarts it', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('stubborn') });
  await platform.startRuntime();
  await platform.connected('one');
  const pid = await platform.say('one', {});
  platform.command({ kind: 'nonsense' });
  platform.command({ kind: 'restart', mcpServer: platform.idOf('one') });
  await platform.reported('one', ({ status }) => status === 'Disconnected');
  expect(await platform.connected('one')).toMatchObject({ health: 'green' });
  expect(await platform.say('one', {})).not.toBe(pid);
});

test.concurrent("an operator's command has the user's home, a temporary folder of its own, and nothing of the platform", async () => {
  await using platform = await Platform.open();
  const folder = path.join(platform.workingDir, 'elsewhere');
  await mkdir(folder);
  const own = { OWN: 'value', LANG: 'own' };
  platform.assign({ one: { ...script('echo', [], own), cwd: folder }, two: script('echo') });
  const running = await platform.startRuntime({
    LANG: 'de_DE.UTF-8',
    HTTPS_PROXY: 'http://proxy.example:1',
    NODE_EXTRA_CA_CERTS: '/no/such/ca.pem',
    npm_config_cache: '/cache',
    HOME: folder,
    SECRET_OF_THE_PLATFORM: 'x',
  });
  await platform.connected('one');
  await platform.connected('two');
  const one = JSON.parse(await platform.say('one', {}, 'environment'));
  const { PATH, SVC_MCP_SERVER_INSTANCE, TMPDIR, ...rest } = one.env;
  expect(rest).toEqual({
    HOME: folder,
    HTTPS_PROXY: 'http://proxy.example:1',
    NODE_EXTRA_CA_CERTS: '/no/such/ca.pem',
    npm_config_cache: '/cache',
    ...own,
  });
  expect(PATH.split(':')).toContain(path.dirname(process.execPath));
  expect(SVC_MCP_SERVER_INSTANCE).toMatch(/^\w{20}$/);
  expect(one.cwd).toBe(folder);
  const two = JSON.parse(await platform.say('two', {}, 'environment'));
  expect(two).toMatchObject({
    cwd: path.join(platform.workingDir, 'homes', platform.idOf('two')),
    env: { HOME: folder, LANG: 'de_DE.UTF-8' },
  });
  expect(two.env.TMPDIR).not.toBe(TMPDIR);
  expect((await stat(TMPDIR)).mode & 0o777).toBe(0o700);
  expect(platform.heartbeats.at(-1)?.home).toBe('user');
  await running.stop();
  expect([TMPDIR, path.dirname(TMPDIR)].map((one) => existsSync(one))).toEqual([false, false]);
});

test.concurrent('without a home that the runtime may write to, each command has a home of its own', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  await platform.startRuntime({ HOME: path.join(platform.workingDir, 'nowhere') });
  await platform.connected('one');
  const { env } = JSON.parse(await platform.say('one', {}, 'environment'));
  expect(env.HOME).toBe(path.join(platform.workingDir, 'homes', platform.idOf('one')));
  expect(platform.heartbeats.at(-1)?.home).toBe('own');
});

test.concurrent('a home is kept from start to start', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  const running = await platform.startRuntime();
  await platform.connected('one');
  const kept = path.join(platform.workingDir, 'homes', platform.idOf('one'), 'kept');
  await writeFile(kept, 'x');
  await running.stop();
  platform.assign({
    one: {
      kind: 'child',
      command: 'node',
      args: ['-e', "process.exit(require('fs').existsSync('kept') ? 21 : 22)"],
      cwd: null,
      env: {},
    },
  });
  await platform.startRuntime();
  const report = await platform.reported('one', ({ status }) => status === 'Error');
  expect(report.reason?.message).toContain('exit code 21');
});

test.concurrent('a program without permission to execute', async () => {
  await using platform = await Platform.open();
  const file = path.join(platform.workingDir, 'program');
  await writeFile(file, '#!/bin/sh\nexit 1\n');
  await chmod(file, 0o600);
  platform.assign({ one: command(file) });
  await platform.startRuntime();
  const report = await platform.reported('one', ({ status }) => status === 'Error');
  expect(report.reason?.code).toBe('not_executable');
});

test.concurrent('a hundred MCP servers that hang at their start delay no other for long', async () => {
  await using platform = await Platform.open();
  const silent = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`silent${i}`, script('silent')]));
  platform.assign({ ...silent, one: script('echo', ['one']) });
  await platform.startRuntime();
  await platform.connected('one');
  expect(await platform.say('one', { text: 'x' })).toBe('one: x');
});
