import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const node = process.execPath;
const token = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

let home = '';
let project = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-import-')));
  project = join(home, 'project');
  mkdirSync(project);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function run(args: readonly string[], env: Record<string, string> = {}) {
  return runSvc([...args, '--dir', platform.dir()], { cwd: project, env: { HOME: home, ...env } });
}

async function importJson(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(['server', 'import', ...args, '--json'], env);
  const answer: { mcpServers: { name: string; action: string; reason: string | null; ignored: string[] }[] } =
    JSON.parse(stdout);
  return { code, stderr, stdout, servers: answer.mcpServers ?? [] };
}

async function launchOf(name: string) {
  return JSON.parse((await run(['server', 'show', name, '--json'])).stdout).launch;
}

const brief = (servers: readonly { name: string; action: string }[]) =>
  servers.map(({ name, action }) => [name, action]);

test('shows each command without its secrets, and runs none before the yes', async () => {
  const touched = join(home, 'touched');
  const file = write('.mcp.json', {
    mcpServers: {
      bad: {
        command: 'touch',
        args: [touched],
        env: { API_TOKEN: token, PLAIN: 'high', MODE: `\${MY_TOKEN}` },
        alwaysAllow: [],
      },
    },
  });
  const { code, stdout, stderr } = await run(['server', 'import', file], { MY_TOKEN: token });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe(
    `bad  API_TOKEN=[secret] PLAIN=high MODE='\${MY_TOKEN}' touch ${touched}\n  Ignored: alwaysAllow\nError: Adding these MCP servers runs their commands, so it must be confirmed.\nWithout a terminal, add --yes, and --only NAME for some of them.\n`,
  );
  expect((await run(['server', 'list'])).stdout).not.toContain('bad');
});

test('adds commands and addresses with their variables as secrets, skips those that exist, and changes them with --replace', async () => {
  const file = write('project/.mcp.json', {
    mcpServers: {
      demo: { type: 'stdio', command: node, args: [demo], env: { TOKEN: `\${MY_TOKEN}`, LEVEL: `\${NONE:-high}` } },
      'My notes!': { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `Bearer \${env:MY_TOKEN}` } },
      off: { command: 'true', disabled: true },
      old: { type: 'websocket', url: 'wss://a.example' },
    },
  });
  const first = await importJson([file, '--yes'], { MY_TOKEN: token });
  expect(brief(first.servers)).toEqual([
    ['demo', 'created'],
    ['My-notes', 'created'],
    ['off', 'skipped'],
    ['old', 'refused'],
  ]);
  expect([first.code, first.stdout + first.stderr]).toEqual([1, expect.not.stringContaining(token)]);
  expect(first.stderr).toContain('"My notes!" is no name for an MCP server, so it becomes "My-notes".');
  expect(await launchOf('demo')).toMatchObject({
    command: node,
    args: [demo],
    cwd: project,
    envNames: ['LEVEL', 'TOKEN'],
  });
  expect(await launchOf('My-notes')).toMatchObject({ url: 'http://127.0.0.1:9/mcp', headerNames: ['authorization'] });
  const again = await importJson([file, '--yes', '--only', 'demo'], { MY_TOKEN: token });
  expect([again.code, brief(again.servers)]).toEqual([0, [['demo', 'skipped']]]);
  write('project/.mcp.json', { mcpServers: { demo: { command: node, args: [demo, 'more'] } } });
  const replaced = await importJson([file, '--yes', '--replace']);
  expect([replaced.code, brief(replaced.servers)]).toEqual([0, [['demo', 'updated']]]);
  expect(await launchOf('demo')).toMatchObject({ args: [demo, 'more'], envNames: [] });
});

test("reads an agent's own files: VS Code's inputs from a file, Codex's TOML, and the project before the user", async () => {
  write(
    'project/.vscode/mcp.json',
    `{ // comment
    "inputs": [{ "id": "the-key", "type": "promptString", "description": "Key" }],
    "servers": { "vs": { "command": "${node}", "args": ["${demo}"], "env": { "KEY": "\${input:the-key}", "MODE": "\${input:the-key}" } }, },
  }`,
  );
  const without = await importJson(['--from', 'vscode', '--yes']);
  expect(without.servers).toMatchObject([
    { name: 'vs', action: 'refused', reason: expect.stringContaining('It needs the input the-key.') },
  ]);
  const variables = write('values.env', `the-key=${token}\n`);
  const vscode = await importJson(['--from', 'vscode', '--yes', '--variable-file', variables]);
  expect(brief(vscode.servers)).toEqual([['vs', 'created']]);
  expect(await launchOf('vs')).toMatchObject({ cwd: project, envNames: ['KEY', 'MODE'] });
  expect((await run(['server', 'show', 'vs', '--json'])).stdout).not.toContain(token);
  write(
    '.codex/config.toml',
    `model = "x"\n[mcp_servers.cx]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "CX"\n`,
  );
  expect(brief((await importJson(['--from', 'codex', '--yes'], { CX: token })).servers)).toEqual([['cx', 'created']]);
  expect(await launchOf('cx')).toMatchObject({ headerNames: ['authorization'] });
  write('.cursor/mcp.json', { mcpServers: { cu: { command: 'user' } } });
  write('project/.cursor/mcp.json', { mcpServers: { cu: { command: 'project' } } });
  await importJson(['--from', 'cursor', '--yes']);
  expect(await launchOf('cu')).toMatchObject({ command: 'project', cwd: project });
});

test('the platform itself is not added', async () => {
  const written = await run(['connect', '--client', 'claude-code', '--write', '--yes']);
  expect(written.code).toBe(0);
  const { servers, code } = await importJson(['--from', 'claude-code', '--yes']);
  expect([code, servers]).toEqual([0, [expect.objectContaining({ action: 'skipped', reason: 'it is this platform' })]]);
});

describe('a secret that members would see is refused, without repeating it', () => {
  test.each<[string, object]>([
    ['in an argument', { command: 'npx', args: ['x', '--api-key', token] }],
    ['in an argument, by a variable', { command: 'npx', args: ['x', `\${MY_TOKEN}`] }],
    ['in an argument, by an input', { command: 'npx', args: [`\${input:MY_TOKEN}`] }],
    ['in an address', { url: `https://a.example/mcp?token=${token}` }],
    ['in an address, by a variable', { url: `https://a.example/\${MY_TOKEN}/mcp` }],
  ])('%s', async (_where, entry) => {
    const file = write('.mcp.json', { mcpServers: { seen: entry } });
    const variables = write('values.env', 'MY_TOKEN=hunter2hunter2\n');
    const { code, stdout, stderr, servers } = await importJson([file, '--yes', '--variable-file', variables]);
    expect([code, servers[0]?.action, servers[0]?.reason]).toEqual([
      1,
      'refused',
      expect.stringContaining('holds a secret'),
    ]);
    expect(stdout + stderr).not.toMatch(/ghp_|hunter2/);
  });
});

test.each<[string, (() => string)[], number, RegExp]>([
  ['neither', [], 2, /Give either a FILE or --from CLIENT/],
  ['both', [() => write('a.json', {}), () => '--from', () => 'cursor'], 2, /Give either a FILE or --from CLIENT/],
  [
    'another form',
    [() => write('a.json', { server: {} })],
    2,
    /has another form: it must be an object with "mcpServers"/,
  ],
  ['broken JSON', [() => write('a.json', '{"mcpServers": {')], 2, /line 1, column 17: close brace expected/],
  ['broken TOML', [() => write('a.toml', 'a = "hunter2" b')], 2, /line 1, column \d+/],
  ['no servers', [() => write('a.json', { mcpServers: {} })], 1, /names no MCP servers/],
  ['a missing file', [() => 'nosuch.json'], 2, /cannot be read: it does not exist/],
  ['a folder', [() => home], 2, /it is a folder/],
  ['an unknown agent', [() => '--from', () => 'cursr'], 2, /Did you mean "cursor"/],
  ['an agent without a file', [() => '--from', () => 'windsurf'], 1, /No configuration file of windsurf was found/],
  [
    'an unknown name',
    [() => write('a.json', { mcpServers: { files: { command: 'x' } } }), () => '--only', () => 'fils'],
    1,
    /Did you mean "files"/,
  ],
])('%s is refused', async (_what, args, exitCode, message) => {
  const { code, stdout, stderr } = await run(['server', 'import', ...args.map((arg) => arg()), '--yes']);
  expect([code, stdout]).toEqual([exitCode, '']);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('hunter2');
});

test('a name and a command of a file cannot imitate lines or colours of svc', async () => {
  const file = write('.mcp.json', {
    mcpServers: { 'a\n\u001b[31mAdded': { command: 'true\nConnected', args: ['\u202e'] } },
  });
  const { stderr } = await run(['server', 'import', file]);
  expect(stderr).not.toMatch(/^Connected|^Added/m);
  for (const hidden of ['\u001b', '\u202e']) expect(stderr).not.toContain(hidden);
});
