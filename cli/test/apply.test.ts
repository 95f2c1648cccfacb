import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const { dir } = withRunningPlatform();
let cwd = '';
const apply = (file: string, { flags = [], stdin = '' }: { flags?: readonly string[]; stdin?: string } = {}) =>
  runSvc(['apply', file, '--dir', dir(), ...flags], { cwd, stdin });

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-apply-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const broken = `mcpServers:
  ghost: { command: svc-test-nothing }
skills:
  - { name: haunt, tools: [ghost/boo] }
`;

test('applied MCP servers that do not work are reported to people and scripts, with exit code 1', async () => {
  writeFileSync(join(cwd, 'broken.yaml'), broken);
  const first = await apply('broken.yaml');
  expect(first.code).toBe(1);
  expect(first.stdout).toBe('+ MCP server ghost\n+ skill haunt\n2 changed.\n');
  expect(first.stderr).toMatch(/\nSome of it does not work:\n- The MCP server "ghost" is Error\. .*svc-test-nothing/);
  expect(first.stderr).toMatch(/svc status\n$/);
  const again = await apply('broken.yaml', { flags: ['--json'] });
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toMatchObject({
    changes: [{ action: 'none' }, { action: 'none' }],
    problems: [{ kind: 'mcpServer', workspace: 'Default', name: 'ghost', hint: expect.any(String) }],
  });
});

test('after an interruption during its wait, it has printed the changes, and ends with 130', async () => {
  const stdin = 'mcpServers:\n  mute: { command: sleep, args: ["600"] }\n';
  const run = await runSvc(['apply', '-', '--dir', dir()], {
    cwd,
    stdin,
    interruptAt: 'Waiting until mute is Connected.',
  });
  expect([run.code, run.stdout]).toEqual([130, '+ MCP server mute\n1 changed.\n']);
});

test('a dry run ends with 0', async () => {
  writeFileSync(join(cwd, 'broken.yaml'), broken);
  const { code, stdout } = await apply('broken.yaml', { flags: ['--dry-run', '--json'] });
  expect([code, JSON.parse(stdout).problems]).toEqual([0, []]);
});

test('- is standard input, with paths relative to the working folder', async () => {
  writeFileSync(join(cwd, 'how.md'), '# How\n');
  const stdin = 'skills:\n  - { name: piped, instructions: ./how.md }\n';
  expect(await apply('-', { stdin })).toMatchObject({ code: 0, stdout: '+ skill piped\n1 changed.\n' });
  expect(await apply('-', { stdin })).toMatchObject({ code: 0, stdout: 'Nothing changes: 1 is unchanged.\n' });
});

test('a field that a file does not name stays, and a difference shows both values', async () => {
  const whole = 'skills:\n  - { name: told, description: First }\nroles:\n  - { name: Told, skills: [told] }\n';
  expect(await apply('-', { stdin: whole })).toMatchObject({ code: 0 });
  const part = 'skills:\n  - { name: told, description: Second }\nroles:\n  - { name: Told, description: New }\n';
  const shown = '~ skill told\n    description: "First" → "Second"\n~ role Told\n    description: nothing → "New"\n';
  const dry = await apply('-', { stdin: part, flags: ['--dry-run'] });
  expect(dry).toMatchObject({ code: 0, stdout: `${shown}2 would change.\n` });
  expect(await apply('-', { stdin: part })).toMatchObject({ code: 0, stdout: `${shown}2 changed.\n` });
  const roles = await runSvc(['role', 'list', '--json', '--dir', dir()], { cwd });
  expect(JSON.parse(roles.stdout).roles).toContainEqual(
    expect.objectContaining({ name: 'Told', skills: [expect.objectContaining({ name: 'told' })] }),
  );
});

test('--prune removes what the file no longer names, after a yes', async () => {
  const both = 'roles:\n  - { name: Kept }\n  - { name: Dropped }\n';
  expect(await apply('-', { stdin: both })).toMatchObject({ code: 0 });
  const one = 'roles:\n  - { name: Kept }\n  - { name: Told }\n';
  expect(await apply('-', { stdin: one, flags: ['--prune', '--dry-run'] })).toMatchObject({
    code: 0,
    stdout: '- role Dropped\n1 would change. 2 are unchanged.\n',
  });
  const unasked = await apply('-', { stdin: one, flags: ['--prune'] });
  expect([unasked.code, unasked.stdout]).toEqual([2, '']);
  expect(unasked.stderr).toMatch(
    /- The role "Dropped" is removed\.\nError: .*must be confirmed\.\nWithout a terminal, add --yes\.\n$/s,
  );
  const removed = await apply('-', { stdin: one, flags: ['--prune', '--yes', '--json'] });
  expect([removed.code, JSON.parse(removed.stdout).changes.at(-1)]).toEqual([
    0,
    { kind: 'role', workspace: 'Default', name: 'Dropped', action: 'delete', fields: [], differences: [] },
  ]);
  expect(await apply('-', { stdin: one, flags: ['--prune'] })).toMatchObject({ code: 0 });
});

test('what exists is exported, and its file changes nothing', async () => {
  await runSvc(['workspace', 'create', 'Exported', '--dir', dir()], { cwd });
  const stdin = `workspace: Exported
mcpServers:
  files: { command: svc-test-nothing, args: [a], cwd: ., env: { LOG: "1", TOKEN: { fromEnv: TOKEN } }, enabled: false }
  crm: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: { fromEnv: TOKEN } }, enabled: false, callTimeout: 90 }
skills:
  - { name: read, description: Read, instructions: { text: "# Read\\n" }, tools: [files/read_file, 'crm/*'] }
roles:
  - { name: Reader, skills: [read] }
`;
  const env = { TOKEN: 'a-secret-of-the-file' };
  await runSvc(['apply', '-', '--dir', dir()], { cwd, stdin, env });
  const exporting = ['apply', 'exported.yaml', '--export', '--workspace', 'Exported', '--dir', dir()];
  const exported = await runSvc(exporting, { cwd });
  expect(exported.stdout).toMatch(/^Wrote ".*exported\.yaml": 2 MCP servers, 1 skill, 1 role\.\n$/);
  expect(exported.stderr).toMatch(
    /The file holds no secret\. Set these variables before you apply it: CRM_AUTHORIZATION, TOKEN\n$/,
  );
  expect(readFileSync(join(cwd, 'exported.yaml'), 'utf8')).not.toContain('a-secret');
  const both = { ...env, CRM_AUTHORIZATION: env.TOKEN };
  const again = await runSvc(['apply', 'exported.yaml', '--json', '--dry-run', '--dir', dir()], { cwd, env: both });
  const { changes } = JSON.parse(again.stdout);
  expect(changes.map(({ name, action }: { name: string; action: string }) => `${action} ${name}`)).toEqual([
    ...['none crm', 'none files', 'none read', 'none Reader'],
  ]);
  const other = await runSvc(['apply', 'exported.yaml', '--dry-run', '--dir', dir()], {
    cwd,
    env: { ...both, TOKEN: 'another-secret' },
  });
  expect(other.stdout).toBe(
    '~ MCP server files\n    env.TOKEN: [secret], a new value\n1 would change. 3 are unchanged.\n',
  );
  expect(await runSvc(exporting, { cwd })).toMatchObject({ code: 5, stderr: expect.stringMatching(/exists already/) });
  writeFileSync(join(cwd, 'notes.md'), 'Notes');
  await runSvc(['file', 'add', 'read', 'notes.md', '--workspace', 'Exported', '--dir', dir()], { cwd });
  const toStdout = await runSvc(['apply', '--export', '--workspace', 'Exported', '--dir', dir()], { cwd });
  expect(toStdout).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/files of skills: read\./) });
  const withFolder = exporting.with(1, 'with-folder.yaml');
  expect((await runSvc(withFolder, { cwd })).stdout).toMatch(/\nWrote ".*skills\/read": a skill with files\.\n$/);
  expect(readFileSync(join(cwd, 'skills/read/notes.md'), 'utf8')).toBe('Notes');
  writeFileSync(join(cwd, 'skills/read/notes.md'), 'Mine');
  const inTheWay = await runSvc(exporting.with(1, 'another.yaml'), { cwd });
  expect(inTheWay).toMatchObject({ code: 5, stderr: expect.stringMatching(/holds other files than the skill/) });
  expect(readFileSync(join(cwd, 'skills/read/notes.md'), 'utf8')).toBe('Mine');
  const mine = await runSvc(['apply', 'with-folder.yaml', '--dry-run', '--dir', dir()], { cwd, env: both });
  expect(mine.stdout).toMatch(/^~ skill read\n {4}files:\n /);
  expect(mine.stdout).toMatch(/^ {6}[+] notes\.md [(]4 bytes/m);
  const part =
    'workspace: Exported\nmcpServers:\n  files: { enabled: false, env: { LOG: "2" } }\n  new: { enabled: false }\n';
  expect(await apply('-', { stdin: part })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/The MCP server "new" does not exist yet, so it must have a command or a url\./),
  });
  expect(await apply('-', { stdin: part.replace(/ {2}new.*\n/, ''), flags: ['--dry-run'] })).toMatchObject({
    code: 0,
    stdout: '~ MCP server files\n    env.LOG: "1" → "2"\n    env.TOKEN: [secret] → nothing\n1 would change.\n',
  });
});

test('an empty file is reported as empty', async () => {
  expect(await apply('-')).toMatchObject({ code: 0, stdout: 'The files name nothing, so nothing changes.\n' });
});

test('svc up names what an agent still misses, and what is not well with its reason', async () => {
  await using fresh = await openTrial();
  const up = async () => (await runSvc(['up'], { cwd: fresh.installation.dir })).stderr;
  expect(await up()).toMatch(/^Next: svc server add everything -- npx -y \S+$/m);
  const { dir } = fresh.installation;
  const inside = async (stdin: string, ...args: string[]) =>
    expect(await runSvc(args, { cwd: dir, stdin })).toMatchObject({ code: 0 });
  await inside('mcpServers:\n  off: { command: svc-test-nothing, enabled: false }\n', 'apply', '-');
  expect(await up()).toMatch(/^Next: svc skill create NAME --tool off\/TOOL$/m);
  await inside('skills:\n  - name: read-all\n', 'apply', '-');
  expect(await up()).toMatch(/^Next: svc role create Everyone --skill read-all$/m);
  await inside('roles:\n  - { name: All, skills: [read-all] }\n', 'apply', '-');
  expect(await up()).toMatch(/^Next: svc keys create laptop$/m);
  await inside('', 'keys', 'create', '--name', 'laptop');
  expect(await up()).toMatch(/^Next: svc connect$/m);
  const broken = 'mcpServers:\n  broken: { command: svc-test-nothing }\n';
  expect(await runSvc(['apply', '-'], { cwd: dir, stdin: broken })).toMatchObject({ code: 1 });
  const { stdout, stderr } = await runSvc(['up'], { cwd: dir });
  expect(stdout).toMatch(/\n\nNot well:\nbroken: .*svc-test-nothing/);
  expect(stderr).toMatch(/^Next: svc server show broken$/m);
}, 120_000);
