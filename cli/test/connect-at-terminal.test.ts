import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, hasTerminal, runAtTerminal } from './run-at-terminal.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-terminal-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (args: readonly string[], ...answers: readonly Answer[]) =>
  runAtTerminal([...args, '--dir', platform.dir()], { cwd: home, env: { HOME: home }, answers });
const no = (at: string): Answer => ({ at, type: '\r' });
const yes = (at: string): Answer => ({ at, type: 'y\r' });
const keysOf = async () => JSON.parse((await platform.svc('keys', 'list', '--json')).stdout).keys;
const desktopFile = () => join(home, '.config/Claude/claude_desktop_config.json');

describe.skipIf(!hasTerminal)('at a terminal', () => {
  test('the agents of this machine are offered first, and Enter creates no key', async () => {
    mkdirSync(join(home, '.cursor'));
    writeFileSync(join(home, '.cursor/mcp.json'), '{}');
    const { code, seen } = await run(['connect'], no('Which agent'), no('Create an API key for Cursor'));
    expect([code, seen]).toEqual([0, expect.stringMatching(/❯ Cursor \(found on this machine\)\n {2}Claude Code\n/)]);
    expect(await keysOf()).toEqual([]);
    expect(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')).toBe('{}');
  });

  test('a key is created and written without being shown, and a no to the change says that it is unused', async () => {
    const words = ['connect', '--client', 'claude-desktop', '--write'];
    const declined = await run(words, yes('Create an API key'), no('Write '));
    expect(declined.seen).toMatch(/The new key is not used\. Revoke it:\ssvc keys revoke 'claude-desktop [\d-]+'/);
    expect([declined.code === 0, existsSync(desktopFile())]).toEqual([false, false]);
    const [{ id }] = await keysOf();
    expect(await platform.svc('keys', 'revoke', id)).toMatchObject({ code: 0 });
    const { code, seen } = await run(words, yes('Create an API key'), yes('Write '));
    expect([code, seen]).toEqual([0, expect.stringContaining('"AUTHORIZATION": "Bearer [secret]"')]);
    const [, key = 'none'] = /Bearer (SVA_\w+)/.exec(readFileSync(desktopFile(), 'utf8')) ?? [];
    expect(seen).not.toContain(key);
    expect(await platform.svc('keys', 'test', '--key-file', fileWith(key))).toMatchObject({ code: 0 });
  });

  test('each MCP server of a file is asked about, with no as the default, and an input is asked for', async () => {
    const file = join(home, 'mcp.json');
    const servers = {
      first: { url: 'http://127.0.0.1:9/mcp' },
      second: { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': `\${input:the-key}` } },
    };
    writeFileSync(file, JSON.stringify({ inputs: [{ id: 'the-key', description: 'The key of second' }], servers }));
    const { code, seen } = await run(['server', 'import', file], no('Add first?'), yes('Add second?'), {
      at: 'The key of second',
      type: 'hunter2\r',
    });
    expect([code, seen]).toEqual([0, expect.stringMatching(/first +declined\s+second +created/)]);
    expect(seen).not.toContain('hunter2');
    const { launch } = JSON.parse((await platform.svc('server', 'show', 'second', '--json')).stdout);
    expect(launch.headerNames).toEqual(['x-key']);
  });
});

function fileWith(key: string): string {
  const file = join(home, 'key.txt');
  writeFileSync(file, key);
  return file;
}
