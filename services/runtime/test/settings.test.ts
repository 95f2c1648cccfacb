import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Platform, script } from './platform.ts';

describe('REMOTE_PORT', () => {
  test('serves /health and /ready, and nothing else', async () => {
    await using platform = await Platform.open();
    const { url } = await platform.startRuntime({ REMOTE_PORT: '0' });
    const get = async (where: string) => (await fetch(`${url}${where}`)).status;
    await platform.until(() => (platform.reports.length > 0 ? true : null));
    expect(await Promise.all(['/health', '/ready', '/', '/mcp', '/metrics'].map(get))).toEqual([
      200, 200, 404, 404, 404,
    ]);
  });

  test('without it the runtime does not listen', async () => {
    await using platform = await Platform.open();
    expect((await platform.startRuntime()).url).toBeNull();
  });

  test('that is in use stops the start, and nothing stays behind', async () => {
    await using platform = await Platform.open();
    const { url } = await platform.startRuntime({ REMOTE_PORT: '0' });
    const REMOTE_PORT = new URL(url ?? '').port;
    await expect(platform.startRuntime({ REMOTE_PORT })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('SVC_WORKING_DIR', () => {
  test('is created, for this user only', async () => {
    await using platform = await Platform.open();
    const folder = path.join(platform.workingDir, 'made', 'here');
    await platform.startRuntime({ SVC_WORKING_DIR: folder });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('that is open to others is closed to them', async () => {
    await using platform = await Platform.open();
    await chmod(platform.workingDir, 0o777);
    await platform.startRuntime();
    expect((await stat(platform.workingDir)).mode & 0o777).toBe(0o700);
  });

  test('without write permission stops the start and is named', async () => {
    await using platform = await Platform.open();
    const file = path.join(platform.workingDir, 'file');
    await writeFile(file, '');
    for (const folder of [file, path.join(file, 'below'), '/proc/nowhere']) {
      const refused = platform.startRuntime({ SVC_WORKING_DIR: folder });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(`SVC_WORKING_DIR "${folder}"`),
      });
    }
  });
});

test('MCP_SERVER_START_TIMEOUT_SECONDS ends a start', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('silent') });
  await platform.startRuntime({ MCP_SERVER_START_TIMEOUT_SECONDS: '1' });
  const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
  expect(reason?.message).toContain('within 1 s');
});

describe('the log', () => {
  const talking = () => script('exits', ['1', 'a line on standard error']);

  test('holds no line of a child by default', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: talking() });
    await platform.startRuntime({ LOG_LEVEL: 'trace' });
    await platform.reported('one', ({ status }) => status === 'Error');
    expect(platform.logOf('mcp-server.one')).toEqual([]);
  });

  test('holds them with FORWARD_STDERR, under the name of the MCP server', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: talking() });
    await platform.startRuntime({ FORWARD_STDERR: 'true' });
    await platform.reported('one', ({ status }) => status === 'Error');
    expect(platform.logOf('mcp-server.one')[0]).toMatchObject({ level: 'info', stderr: 'a line on standard error' });
  });

  test('holds a bounded number of them, and one line about the others', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('exits', ['1', 'line\n'.repeat(500)]), two: talking() });
    await platform.startRuntime({ FORWARD_STDERR: 'true' });
    await platform.reported('one', ({ status }) => status === 'Error');
    await platform.reported('two', ({ status }) => status === 'Error');
    const lines = platform.logOf('mcp-server.one');
    expect(lines.filter(({ stderr }) => stderr === 'line')).toHaveLength(100);
    expect(lines.slice(100)).toMatchObject([
      { level: 'warn', msg: 'left out more lines of standard error for a minute' },
    ]);
    expect(platform.logOf('mcp-server.two')).toHaveLength(1);
  });

  test('follows LOG_LEVEL and LOG_LEVELS', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: talking(), two: script('echo') });
    const levels = { LOG_LEVEL: 'warn', LOG_LEVELS: 'mcp-server.*=error,calls=debug' };
    await platform.startRuntime({ FORWARD_STDERR: 'true', ...levels });
    await platform.connected('two');
    await platform.say('two', { text: 'x' });
    await platform.reported('one', ({ status }) => status === 'Error');
    expect(platform.logOf('mcp-server.one')).toEqual([]);
    expect(platform.logOf('runtime')).toEqual([]);
    expect(platform.logOf('supervisor').map(({ msg }) => msg)).toEqual(['failed']);
    expect(platform.logOf('calls')).toMatchObject([{ request: 'request', method: 'tools/call', msg: 'answered' }]);
  });
});

test.each([
  ['no identity', {}, /RUNTIME_KEY is required, or SYSTEM_KEY/],
  ['two identities', { RUNTIME_KEY: 'x', SYSTEM_KEY: 'y', RUNTIME_NAME: 'z' }, /must not be set together/],
  ['USER_KEY', { USER_KEY: 'x' }, /USER_KEY is rejected/],
  ['MCP_REMOTE_ENABLED', { MCP_REMOTE_ENABLED: 'true' }, /MCP_REMOTE_ENABLED is rejected/],
])('as a separate process it ends at the boot with %s, and says why', async (_name, env, message) => {
  await using platform = await Platform.open();
  const main = path.join(import.meta.dirname, '..', 'main.ts');
  await mkdir(platform.workingDir, { recursive: true });
  const child = spawn(process.execPath, [main], {
    env: { SVC_WORKING_DIR: platform.workingDir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(said).toMatch(message);
});
