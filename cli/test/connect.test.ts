import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientNames, clients } from '../../services/contracts/clients/clients.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const key = newKey('user').reveal();

/** Home and project of a person, without any client yet. */
let home = '';
let project = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-connect-'));
  project = join(home, 'project');
  mkdirSync(project);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function connect(
  args: readonly string[],
  { env = {}, stdin = '' }: { env?: Record<string, string>; stdin?: string } = {},
) {
  const words = ['connect', ...args, '--dir', platform.dir()];
  return runSvc(words, { cwd: project, env: { HOME: home, ...env }, stdin });
}

const cursorFile = () => join(home, '.cursor/mcp.json');
const desktopFile = () => join(home, '.config/Claude/claude_desktop_config.json');
const ofMac = process.platform === 'darwin';

describe('printing', () => {
  test.each(clientNames)(
    'the snippet for %s, in the JSON form that scripts rely on, writes nothing',
    async (client) => {
      const { code, stdout } = await connect(['--client', client, '--json']);
      const answer = JSON.parse(stdout);
      expect([code, Object.keys(answer)]).toEqual([0, ['client', 'file', 'snippet', 'written', 'backup']]);
      expect(answer).toMatchObject({ client, written: false, backup: null, snippet: expect.stringContaining('/mcp') });
      expect(answer.file === null).toBe(clients.find(({ name }) => name === client)?.kind === 'text');
      expect(readdirSync(home)).toEqual(['project']);
    },
  );

  test('without a terminal the client is named by its flag, and those of this machine come first', async () => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), '');
    const { code, stdout, stderr } = await connect([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'Error: --client is missing.\nClients: codex, claude-code, claude-desktop, cursor, vscode, windsurf, inspector, curl, json. Such as: svc connect --client codex\n',
    );
  });

  test('the key is never an argument, and the environment does not put it into a snippet', async () => {
    const refused = await connect(['--client', 'curl', '--name', key]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('must not be an argument') });
    const { stdout, stderr } = await connect(['--client', 'json'], { env: { SVC_API_KEY: key } });
    expect(stdout + stderr).not.toContain(key);
  });

  test('roles and skills are named, and become ids', async () => {
    await platform.svc('skill', 'create', 'reading');
    await platform.svc('role', 'create', 'Reader', '--skill', 'reading');
    const { stdout, stderr } = await connect(['--client', 'curl', '--role', 'Reader', '--skill', 'reading']);
    expect(stdout).toMatch(/^curl 'http:\/\/[^']+\/mcp\?roleIds=rol_\w+&skillIds=skl_\w+'/);
    expect(stderr).not.toContain('--write');
    const wrong = await connect(['--client', 'curl', '--role', 'Raeder']);
    expect(wrong).toMatchObject({ code: 1, stderr: 'Error: There is no role "Raeder".\nDid you mean "Reader"?\n' });
    const written = await connect(['--client', 'cursor', '--role', 'Reader']);
    expect(written.stderr).toContain('Write it there: svc connect --client cursor --write --role Reader\n');
  });

  test.each([
    [['--client', 'cursr'], /--client "cursr" is not a known client\.\nDid you mean "cursor"\?/],
    [['--client', 'curl', '--write'], /curl has no known configuration file/],
    [['--client', 'windsurf', '--write', '--scope', 'project'], /Windsurf has no file of the project/],
    [
      ['--client', 'claude-code', '--write', '--scope', 'user'],
      /Claude Code has no file of the user that may be changed/,
    ],
    [['--client', 'cursor', '--key-file', 'x'], /--key-file is only for --write/],
    [['--client', 'cursor', '--name', 'a.b'], /"a\.b" is not a valid name/],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await connect(args);
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(message);
  });
});

describe.skipIf(ofMac)('writing', () => {
  test('into a new file, then nothing is left to change', async () => {
    const first = await connect(['--client', 'cursor', '--write', '--yes', '--json']);
    expect(JSON.parse(first.stdout)).toMatchObject({ file: cursorFile(), written: true, backup: null });
    expect(first.stderr).toContain('+      "url": "http://');
    expect(readFileSync(cursorFile(), 'utf8')).toContain(`Bearer \${env:SVC_API_KEY}`);
    const second = await connect(['--client', 'cursor', '--write', '--yes']);
    expect([second.code, second.stdout]).toEqual([0, `Nothing to change in ${cursorFile()}.\n`]);
    expect(readdirSync(join(home, '.cursor'))).toEqual(['mcp.json']);
  });

  test('keeps the old text beside it, and the mode', async () => {
    const old = '{\n  // mine\n  "mcpServers": {}\n}\n';
    mkdirSync(join(home, '.cursor'));
    writeFileSync(cursorFile(), old);
    chmodSync(cursorFile(), 0o664);
    const { stdout } = await connect(['--client', 'cursor', '--write', '--yes', '--json']);
    const { backup } = JSON.parse(stdout);
    expect(readFileSync(backup, 'utf8')).toBe(old);
    expect(readFileSync(cursorFile(), 'utf8')).toMatch(/\/\/ mine/);
    expect((statSync(cursorFile()).mode & 0o777).toString(8)).toBe('664');
    expect(readdirSync(join(home, '.cursor'))).toHaveLength(2);
  });

  test('without a yes it shows the change, and changes nothing', async () => {
    const { code, stdout, stderr } = await connect(['--client', 'cursor', '--write']);
    expect([code, stdout, existsSync(cursorFile())]).toEqual([2, '', false]);
    expect(stderr).toMatch(/\+ {2}"mcpServers": \{[\s\S]*must be confirmed\.\nWithout a terminal, add --yes\.\n$/);
  });

  test('a client that reads no variable gets the key from a file, stdin or the environment, and its file is private', async () => {
    const without = await connect(['--client', 'claude-desktop', '--write', '--yes']);
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('--key-file') });
    const file = join(home, 'key.txt');
    writeFileSync(file, `${key}\n`);
    for (const [args, given] of [
      [['--key-file', file], {}],
      [['--key-file', '-'], { stdin: key }],
      [[], { env: { SVC_API_KEY: key } }],
    ] as const) {
      const { code, stdout, stderr } = await connect(
        ['--client', 'claude-desktop', '--write', '--yes', ...args],
        given,
      );
      expect([code, stderr]).toEqual([0, expect.stringContaining('"AUTHORIZATION": "Bearer [secret]"')]);
      expect(stdout + stderr).not.toContain(key);
      expect(readFileSync(desktopFile(), 'utf8')).toContain(`Bearer ${key}`);
      expect((statSync(desktopFile()).mode & 0o777).toString(8)).toBe('600');
      rmSync(desktopFile());
    }
    writeFileSync(file, 'not a key"\n');
    const wrong = await connect(['--client', 'claude-desktop', '--write', '--yes', '--key-file', file]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('does not hold an API key of an agent') });
  });

  test('a client that reads a variable gets the key only from --key-file, and the mode becomes private', async () => {
    const env = { SVC_API_KEY: key };
    await connect(['--client', 'cursor', '--write', '--yes'], { env });
    expect(readFileSync(cursorFile(), 'utf8')).not.toContain(key);
    writeFileSync(join(home, 'key.txt'), key);
    const { stdout } = await connect([
      '--client',
      'cursor',
      '--write',
      '--yes',
      '--json',
      '--key-file',
      join(home, 'key.txt'),
    ]);
    expect(readFileSync(cursorFile(), 'utf8')).toContain(key);
    expect(stdout).not.toContain(key);
    for (const name of readdirSync(join(home, '.cursor'))) {
      expect((statSync(join(home, '.cursor', name)).mode & 0o777).toString(8), name).toBe('600');
    }
  });

  test('comments of TOML survive', async () => {
    mkdirSync(join(home, '.codex'));
    const file = join(home, '.codex/config.toml');
    writeFileSync(file, '# mine\nmodel = "x" # the best\n');
    await connect(['--client', 'codex', '--write', '--yes']);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^# mine\nmodel = "x" # the best\n\n\[mcp_servers\.platform\]\nurl = "[^"]+"\nbearer_token_env_var = "SVC_API_KEY"\n$/,
    );
  });

  test("a person's own link is followed, and a project's link out of the project is refused", async () => {
    const dotfiles = join(home, 'dotfiles.json');
    writeFileSync(dotfiles, '{}\n');
    mkdirSync(join(home, '.cursor'));
    symlinkSync(dotfiles, cursorFile());
    const own = await connect(['--client', 'cursor', '--write', '--yes']);
    expect([own.code, readFileSync(dotfiles, 'utf8')]).toEqual([0, expect.stringContaining('platform')]);
    expect(own.stderr).toContain(`Change of ${cursorFile()}, which is ${dotfiles}:`);
    const victim = join(home, 'victim.json');
    writeFileSync(victim, '{}\n');
    symlinkSync(victim, join(project, '.mcp.json'));
    symlinkSync(home, join(project, '.vscode'));
    for (const args of [
      ['--client', 'claude-code'],
      ['--client', 'vscode', '--scope', 'project'],
    ]) {
      const foreign = await connect([...args, '--write', '--yes']);
      expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining('leads out of its project') });
    }
    expect([readFileSync(victim, 'utf8'), existsSync(join(home, 'mcp.json'))]).toEqual(['{}\n', false]);
  });

  test.each<[string, (file: string) => void, RegExp]>([
    ['is broken', (file) => writeFileSync(file, '{\n  "mcpServers": {\n'), /line 3, column 1: close brace expected/],
    ['has another form', (file) => writeFileSync(file, '[]'), /another form: it must hold an object/],
    ['is read-only', (file) => writeFileSync(file, '{}', { mode: 0o444 }), /is read-only/],
    ['is a folder', (file) => mkdirSync(file), /it is a folder/],
    ['is a pipe', (file) => void execFileSync('mkfifo', [file]), /is a pipe \(FIFO\)/],
    ['is a link to nothing', (file) => symlinkSync(join(home, 'nothing'), file), /is a link without a destination/],
    ['is a link to itself', (file) => symlinkSync(file, file), /is a link without a destination/],
    ['is huge', (file) => writeFileSync(file, `{"a": "${'x'.repeat(5_000_000)}"}`), /is longer than/],
  ])('a file that %s is refused and stays', async (_what, make, message) => {
    mkdirSync(join(home, '.cursor'));
    make(cursorFile());
    const { code, stdout, stderr } = await connect(['--client', 'cursor', '--write', '--yes']);
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(message);
    expect(readdirSync(join(home, '.cursor'))).toEqual(['mcp.json']);
  });

  test('a file in the place of the folder is refused', async () => {
    writeFileSync(join(home, '.cursor'), '');
    const { code, stderr } = await connect(['--client', 'cursor', '--write', '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/a folder is needed|it is a file/)]);
  });
});
