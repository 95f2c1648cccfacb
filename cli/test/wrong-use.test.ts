import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-cli-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const svc = (line: string, ...more: string[]) => runSvc([...line.split(' '), ...more], { cwd });

const keysCreate =
  'Usage: svc keys create NAME [--workspace NAME] [--role ROLE]… [--disclosure skills|all] [--expires TIME]';

describe('a mistyped word is answered with the right form', () => {
  const rows: readonly (readonly [line: string, told: string])[] = [
    // Flags.
    ['status --jsno', 'There is no flag --jsno.\nDid you mean --json?\nUsage: svc status [--watch] [--all]'],
    ['status --watchh', 'There is no flag --watchh.\nDid you mean --watch?\nUsage: svc status [--watch] [--all]'],
    ['status -json', 'There is no flag -json.\nDid you mean --json?\nUsage: svc status [--watch] [--all]'],
    ['status -x', 'There is no flag -x.\nUsage: svc status [--watch] [--all]'],
    ['--jsn status', 'There is no flag --jsn before a command.\nDid you mean --json?'],
    ['keys create --name', `--name needs a value: --name NAME.\n${keysCreate}`],
    ['keys create --name --role A', `--name needs a value: --name NAME.\n${keysCreate}`],
    ['keys create --name a --role', `--role needs a value: --role ROLE.\n${keysCreate}`],
    ['keys create --name a --name b', `--name was given more than once.\n${keysCreate}`],
    ['keys create --name=a --name b', `--name was given more than once.\n${keysCreate}`],
    [
      'up --confirm x',
      `--confirm is only for --start-empty.\nUsage: svc up [--foreground] [--as-copy] [--start-empty] [--confirm NAME]`,
    ],
    [
      'logs -n',
      `--lines needs a value: --lines NUMBER.\nUsage: svc logs [SERVICE…] [--follow] [--lines NUMBER] [--since TIME] [--level LEVEL] [--request ID] [--server NAME]`,
    ],
    ['logs -n abc', '--lines must be a whole number from 0 to 100000, not "abc".'],
    ['logs -n -1', '--lines must be a whole number from 0 to 100000, not "-1".'],
    ['keys create', `NAME is missing.\n${keysCreate}`],
    [
      'server add x --env-file=/dev/null',
      '--env-file is a flag of Node, and not of this command.\nDid you mean --variable-file /dev/null?\nUsage: svc server add (NAME -- COMMAND [ARG…] | NAME --url URL | [NAME] --from ENTRY)',
    ],
    [
      'skill create x --tool a/b,c/d',
      '--tool takes one tool, not "a/b,c/d".\nRepeat it for each tool: --tool a/b --tool c/d',
    ],
    // Words.
    ['keys create laptop extra', `"extra" is an unexpected argument.\n${keysCreate}`],
    ['keys create laptop --name other', `"laptop" is an unexpected argument.\n${keysCreate}`],
    ['keys create laptop --disclosure some', '--disclosure must be one of skills, all, not "some".'],
    ['keys create --name x --role A B', `"B" is an unexpected argument.\n${keysCreate}`],
    ['status extra', '"extra" is an unexpected argument.\nUsage: svc status [--watch] [--all]'],
    ['keys test extra', '"extra" is an unexpected argument.\nUsage: svc keys test [--url URL] [--key-file FILE]'],
    ['server show', 'NAME is missing.\nUsage: svc server show NAME [--workspace NAME]'],
    // Commands by the names that other programs give them.
    ['start', '"svc start" is not a command.\nDid you mean "svc up"?'],
    ['stop', '"svc stop" is not a command.\nDid you mean "svc down"?'],
    ['ps', '"svc ps" is not a command.\nDid you mean "svc status"?'],
    ['server rm x', '"svc server rm" is not a command.\nDid you mean "svc server remove"?'],
    ['servers delete x', '"svc servers delete" is not a command.\nDid you mean "svc server remove"?'],
    ['keys delete', '"svc keys delete" is not a command.\nDid you mean "svc keys revoke"?'],
    ['skill delete x', '"svc skill delete" is not a command.\nDid you mean "svc skill remove"?'],
    [
      'role update x --enable --disable',
      '--enable and --disable cannot be given together.\nUsage: svc role update NAME [--name NAME] [--description TEXT] [--add-skill SKILL]… [--remove-skill SKILL]… [--skill SKILL]… [--add-allow MCPSERVER/TOOL]… [--remove-allow MCPSERVER/TOOL]… [--allow MCPSERVER/TOOL]… [--add-deny MCPSERVER/TOOL]… [--remove-deny MCPSERVER/TOOL]… [--deny MCPSERVER/TOOL]… [--read-only] [--allow-missing] [--enable] [--disable] [--workspace NAME]',
    ],
    ['help nosuch', '"svc nosuch" is not a command.\nSee svc --help.'],
    // The command of an MCP server.
    [
      'server add foo npx -y bar',
      'The command of an MCP server stands after --.\nPut -- before the command: svc server add foo -- npx -y bar',
    ],
    [
      'server add --cwd docs foo npx -y bar',
      'The command of an MCP server stands after --.\nPut -- before the command: svc server add --cwd docs foo -- npx -y bar',
    ],
    [
      'server add a b -- node x',
      '"b" is an unexpected argument: only the name stands before --.\nPut the whole command after --: svc server add a -- node x',
    ],
    // The forms of other programs.
    [
      'server add e1 --transport http https://x.example/mcp',
      'The URL of an MCP server stands after --url.\nType it as: svc server add e1 --url https://x.example/mcp',
    ],
    [
      'server add -t http e1 https://x.example/mcp -H X-Team:blue',
      'The URL of an MCP server stands after --url.\nType it as: svc server add e1 -H X-Team:blue --url https://x.example/mcp',
    ],
    [
      'server add e1 https://x.example/mcp',
      'The URL of an MCP server stands after --url.\nType it as: svc server add e1 --url https://x.example/mcp',
    ],
    [
      'server add --scope user e1 -e A=1 -- npx -y bar',
      'An MCP server belongs to a workspace (--workspace), so there is no --scope.\nType it as: svc server add e1 -e A=1 -- npx -y bar',
    ],
    [
      'server add e1 -s user npx -y bar --flag',
      'An MCP server belongs to a workspace (--workspace), so there is no --scope.\nType it as: svc server add e1 -- npx -y bar --flag',
    ],
    [
      'server add e1 --transport stdio -- npx -y bar',
      'The transport follows from the form: a command after --, or --url.\nType it as: svc server add e1 -- npx -y bar',
    ],
    [
      'server add e1 docker run -i --rm -e FOO image',
      'The command of an MCP server stands after --.\nPut -- before the command: svc server add e1 -- docker run -i --rm -e FOO image',
    ],
    [
      'server add-json e1 {"type":"http","url":"https://x.example/mcp","headers":{"Authorization":"hush","X-Team":"blue"}}',
      "An MCP server is not added as JSON.\nType it as: svc server add e1 --url https://x.example/mcp --header Authorization --header 'X-Team: blue'",
    ],
    [
      'server add-json e1 {"command":"npx","args":["-y","bar"],"env":{"API_KEY":"hush","LOG":"1"}}',
      'An MCP server is not added as JSON.\nType it as: svc server add e1 --env API_KEY --env LOG=1 -- npx -y bar',
    ],
    [
      'server add-json e1 {"command":',
      'An MCP server is not added as JSON.\nType it as: svc server add NAME -- COMMAND, or svc server add NAME --url URL',
    ],
    [
      'server add e1 -v /a:/b docker run image --flag',
      '-v is a flag of docker run, which stands after -- with all of its flags.\nType it as: svc server add e1 -- docker run -i --rm -v /a:/b image --flag',
    ],
    [
      'server add e1 -p 80:80 --rm docker run -i image',
      '-p is a flag of docker run, which stands after -- with all of its flags.\nType it as: svc server add e1 -- docker run -p 80:80 --rm -i image',
    ],
    [
      'server add e1 -e A=1 -it -- image',
      '-it is a flag of docker run, which stands after -- with all of its flags.\nType it as: svc server add e1 -e A=1 -- docker run -i --rm image',
    ],
    [
      'server add e1 --share npx -y bar',
      'The command of an MCP server stands after --.\nPut -- before the command: svc server add e1 --share -- npx -y bar',
    ],
    [
      'server add https://x.example/mcp',
      'The name of the MCP server is missing before its URL.\nType it as: svc server add NAME --url URL',
    ],
    [
      'server add --name e1 -- npx',
      'There is no flag --name.\nType the name without a flag.\nUsage: svc server add (NAME -- COMMAND [ARG…] | NAME --url URL | [NAME] --from ENTRY)',
    ],
    // Other words for a command, in another order or in other letters.
    ['add', '"svc add" is not a command.\nDid you mean "svc file add", "svc server add"?'],
    ['mcp add', '"svc mcp" is not a command.\nDid you mean "svc server add"?'],
    ['mcp', '"svc mcp" is not a command.\nDid you mean "svc server"?'],
    ['tokens new', '"svc tokens" is not a command.\nDid you mean "svc keys create"?'],
    ['list servers', '"svc list" is not a command.\nDid you mean "svc server list"?'],
    ['delete skill echo', '"svc delete" is not a command.\nDid you mean "svc skill remove"?'],
    ['STATUS', '"svc STATUS" is not a command.\nDid you mean "svc status"?'],
    ['Server LIST', '"svc Server" is not a command.\nDid you mean "svc server list"?'],
    ['server DELETE x', '"svc server DELETE" is not a command.\nDid you mean "svc server remove"?'],
    ['-V', 'There is no flag -V before a command.\nDid you mean --version?'],
    ['server edit x', '"svc server edit" is not a command.\nDid you mean "svc server update"?'],
    ['server stop x', '"svc server stop" is not a command.\nDid you mean "svc server disable"?'],
  ];
  test.each(rows)('svc %s', async (line, told) => {
    const run = await svc(line);
    expect(run).toEqual({ code: 2, stdout: '', stderr: `Error: ${told}\n` });
  });

  test('a command in quotes', async () => {
    const run = await svc('server add x --', "npx -y it's");
    expect(run.stderr).toBe(
      `Error: The command "npx -y it's" is one word with spaces.\nLeave out the quotes: svc server add x -- npx -y 'it'\\''s'\n`,
    );
    expect(run.code).toBe(2);
  });
});

describe('--json returns JSON even for an unknown command', () => {
  test.each(['--json', 'skills --json', '--json nosuch', '--json status extra'])('svc %s', async (line) => {
    const run = await svc(line);
    expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'invalid_input' } });
    expect([run.stderr, run.code]).toEqual(['', 2]);
  });
});

describe('help', () => {
  test.each([
    ['-h', /^EXIT CODES\n {2}0 +done/m],
    ['help', /^EXIT CODES\n {2}0 +done/m],
    ['--help', /^ {2}130 +interrupted/m],
    ['help server add', /\$ svc server add \(NAME -- COMMAND \[ARG…\] \| NAME --url URL \| \[NAME\]\s+--from ENTRY\)/],
    ['server add -h', /\$ svc server add \(NAME -- COMMAND/],
    ['help skills', /\$ svc skill COMMAND/],
    ['keys create --help', /\$ svc keys create NAME \[--workspace NAME\]/],
  ])('svc %s', async (line, shown) => {
    const run = await svc(line);
    expect(run.stdout).toMatch(shown);
    expect([run.stderr, run.code]).toEqual(['', 0]);
  });
});

test('arguments after -- are neither help nor flags of svc', async () => {
  const run = await svc('server add x -- node --help --json');
  expect([run.stdout, run.code]).toEqual(['', 1]);
  expect(run.stderr).toContain('svc init');
});

test('shared flags may precede the command', async () => {
  const run = await svc('--dir ./there --json status');
  expect(JSON.parse(run.stdout).error.message).toBe(
    `"${join(cwd, 'there')}" is not an installation: it holds no svc.yaml.`,
  );
});

describe('typed with npx', () => {
  const env = { npm_command: 'exec' };
  test('every suggested command begins with npx', async () => {
    const run = await runSvc(['up'], { cwd, env });
    expect(run.stderr).toContain('Create one here with npx svc init, or');
    const mistaken = await runSvc(['status', 'extra'], { cwd, env });
    expect(mistaken.stderr).toContain('Usage: npx svc status [--watch] [--all]\n');
    const help = await runSvc(['help', 'status'], { cwd, env });
    expect(help.stdout).toContain('$ npx svc status [--watch] [--all]');
    expect(run.stderr + mistaken.stderr + help.stdout).not.toMatch(/npx npx|(?<!npx )svc (?:init|up|status)/);
  });
});
