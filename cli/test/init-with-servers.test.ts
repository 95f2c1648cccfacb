import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, hasTerminal, runAtTerminal } from './run-at-terminal.ts';
import { runSvc } from './run-svc.ts';

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const token = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const timeoutMs = 90_000;

let home = '';
let project = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-init-servers-')));
  project = join(home, 'project');
  mkdirSync(project);
});
afterEach(async () => {
  if (existsSync(installation())) await svc(['down', '--dir', installation()]);
  rmSync(home, { recursive: true, force: true });
});

const installation = () => join(project, 'svc');
const svc = (args: readonly string[], env: Record<string, string> = {}) =>
  runSvc(args, { cwd: project, env: { HOME: home, ...env } });
const json = async (...args: string[]) => JSON.parse((await svc([...args, '--json'])).stdout);

function write(path: string, content: unknown): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

/** One that starts, one whose secret is in a variable, one that its agent does not start. */
function writeFiles(): void {
  const servers = {
    demo: { command: process.execPath, args: [demo], env: { API_TOKEN: `\${MY_TOKEN}`, LEVEL: 'high' } },
    off: { command: 'true', disabled: true },
  };
  write('project/.mcp.json', { mcpServers: servers });
  write('.cursor/mcp.json', { mcpServers: { demo: servers.demo, remote: { url: 'http://127.0.0.1:9/mcp' } } });
}

describe('with flags', () => {
  test(
    'the MCP servers of an agent come in, running and shared, with their secrets encrypted',
    async () => {
      writeFiles();
      const args = ['init', '--import', 'claude-code', '--share', '--yes', '--json'];
      const { code, stdout, stderr } = await svc(args, { MY_TOKEN: token });
      expect([code, stderr]).toEqual([0, expect.stringContaining(`API_TOKEN='\${MY_TOKEN}' LEVEL=high`)]);
      const { platform, mcpServers } = JSON.parse(stdout);
      expect(platform).toMatchObject({ state: 'running', urls: { mcp: expect.stringContaining('/mcp') } });
      expect(mcpServers).toMatchObject([{ name: 'demo', action: 'created', nameInFile: 'demo' }]);
      expect(stdout + stderr).not.toContain(token);
      const { launch } = await json('server', 'show', 'demo');
      expect(launch.env).toEqual([
        { name: 'API_TOKEN', value: null },
        { name: 'LEVEL', value: 'high' },
      ]);
      expect((await json('role', 'list')).roles).toMatchObject([{ name: 'Everyone', skills: [{ name: 'demo' }] }]);
      const again = await svc(args, { MY_TOKEN: token });
      expect([again.code, JSON.parse(again.stdout).mcpServers]).toEqual([
        0,
        [expect.objectContaining({ name: 'demo', action: 'skipped' })],
      ]);
    },
    timeoutMs,
  );

  test('without a terminal and without --yes nothing is written, and the commands are shown', async () => {
    writeFiles();
    const { code, stderr } = await svc(['init', '--import', '.mcp.json']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^MCP servers {2}demo: .*\n[\s\S]*must be confirmed\.\nWithout a terminal, add --yes\.\n$/m);
    expect(existsSync(installation())).toBe(false);
  });

  test('a name and a command of a file cannot imitate lines or colours of svc', async () => {
    const forged = { command: 'x\nOwner  forged', args: ['\u001b[2K\u001b[32mok'] };
    write('project/.mcp.json', { mcpServers: { 'a\r\nStarts  never\u001b[31m': forged } });
    const { stderr } = await svc(['init', '--import', '.mcp.json']);
    expect(stderr).toContain('MCP servers');
    expect(stderr).not.toMatch(/[^\P{Cc}\n]|^(?:Owner {2}forged|Starts {2}never)/mu);
  });

  test.each([
    [['--import', 'windsurf'], 1, 'No configuration file of windsurf was found on this machine.'],
    [['--import', 'no.json'], 1, '"no.json" is neither a known agent nor a file.'],
    [['--import', 'cursr'], 1, 'Did you mean "cursor"?'],
    [['--import', '.mcp.json', '--only', 'dmeo'], 1, 'Did you mean "demo"?'],
    [['--import', '.mcp.json', '--no-start'], 2, '--no-start does not go with it.'],
    [['--share'], 2, '--only and --share are about the MCP servers of --import.'],
  ])('%j is refused before anything is written', async (args, exitCode, text) => {
    writeFiles();
    const { code, stderr } = await svc(['init', '--yes', ...args]);
    expect([stderr, code]).toEqual([expect.stringContaining(text), exitCode]);
    expect(existsSync(installation())).toBe(false);
  });

  test(
    '--start starts the platform',
    async () => {
      const { code, stdout, stderr } = await svc(['init', '--yes', '--start']);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Created .*\nThe platform is running\.$/m)]);
      expect(stderr).toContain('Next: svc server add everything');
    },
    timeoutMs,
  );
});

describe.skipIf(!hasTerminal)('at a terminal', () => {
  const questions = {
    way: 'How does it run?',
    owner: 'E-mail address of the owner',
    servers: 'Which ones come in?',
    share: 'Let agents use all their tools?',
    value: 'Value of the variable MY_TOKEN',
    start: 'Start it now?',
    right: 'Is this right?',
  };
  const at = (question: keyof typeof questions, type = '\r'): Answer => ({ at: questions[question], type });
  const run = (args: readonly string[], ...answers: readonly Answer[]) =>
    runAtTerminal(args, { cwd: project, env: { HOME: home }, answers });
  const interrupt = '\u0003';

  test(
    'Enter at every question makes a platform that runs',
    async () => {
      const { code, seen } = await run(['init'], at('way'), at('owner'), at('start'), at('right'));
      expect([code, seen]).toEqual([0, expect.stringContaining('The platform is running.')]);
      expect(seen).toMatch(
        /^Folder {2}.*\/project\/svc\nRuns as +one process, data in SQLite\nOwner +owner@localhost\nStarts +now$/m,
      );
      expect(readFileSync(join(installation(), 'svc.yaml'), 'utf8')).toMatch(/^topology: embedded$/m);
    },
    timeoutMs,
  );

  test(
    'MCP servers of agents are offered once, none by default, and come in with the answers of the person',
    async () => {
      writeFiles();
      const answers = [at('way'), at('owner', 'a@example.com\r'), at('servers', ' \r'), at('share', 'y\r')];
      const { code, seen } = await run(['init'], ...answers, at('value', `${token}\r`), at('right'));
      expect([code, seen]).toEqual([
        0,
        expect.stringMatching(/◯ demo \(Claude Code, Cursor\): .*\n ◯ remote \(Cursor\)/),
      ]);
      expect(seen).not.toContain('◯ off');
      expect(seen).not.toContain(token);
      expect(seen).toMatch(/Agents +may use all their tools\nStarts +now/);
      expect(seen).toMatch(/demo +created\n[\s\S]*Next: svc keys create laptop/);
      expect((await json('server', 'list')).mcpServers).toMatchObject([{ name: 'demo' }]);
    },
    timeoutMs,
  );

  test('containers and a wrong address: the choice is shown, and the address is asked for again', async () => {
    const down = '\u001b[B';
    const answers = [
      at('way', `${down}${down}\r`),
      at('owner', 'nobody\r'),
      { at: 'It must be an e-mail', type: '@example.com\r' },
    ];
    const { code, seen } = await run(['init'], ...answers, at('start', 'n\r'), at('right', 'n\r'));
    expect(seen).toMatch(
      /Runs as +one container for each service, data in SQLite\nOwner +nobody@example\.com\nStarts +with svc up/,
    );
    expect([code === 0, seen]).toEqual([false, expect.stringContaining('Nothing was written.')]);
    expect(existsSync(installation())).toBe(false);
  });

  test('a question whose answer is a flag is not asked, and a file that cannot be read is named', async () => {
    write('.cursor/mcp.json', '{ "mcpServers": ');
    const args = ['init', '--topology', 'embedded', '--owner-email', 'a@example.com', '--no-start'];
    const { code, seen } = await run(args, at('right'));
    expect([code, seen]).toEqual([0, expect.stringMatching(/^! Not read: .*\.cursor\/mcp\.json/m)]);
    for (const question of [questions.way, questions.owner, questions.start]) expect(seen).not.toContain(question);
    expect(existsSync(installation())).toBe(true);
  });

  test.each(['way', 'owner', 'servers', 'share', 'value', 'right'] as const)(
    'Ctrl-C at "%s" writes nothing',
    async (question) => {
      writeFiles();
      const all = [at('way'), at('owner'), at('servers', ' \r'), at('share'), at('value', 'x\r'), at('right')];
      const before = all.slice(
        0,
        all.findIndex((answer) => answer.at === questions[question]),
      );
      const { code, seen } = await run(['init'], ...before, at(question, interrupt));
      expect([code, seen]).toEqual([130, expect.stringContaining(questions[question])]);
      expect(existsSync(installation())).toBe(false);
    },
  );
});
