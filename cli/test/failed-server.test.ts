import { describe, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const { dir, svc } = withRunningPlatform();

const words = ['nothing unusual so far', 'the parrot is gone', 'it is an ex-parrot'];
const ending = `for (const line of ${JSON.stringify(words)}) console.error(line); process.exitCode = 3;`;

describe('an MCP server that ends at once', () => {
  test('has its last output shown once by svc server add, with cause and repair', async () => {
    const run = await svc('server', 'add', 'ends', '--', process.execPath, '-e', ending);
    expect(run.code).toBe(1);
    for (const line of words) expect(run.stderr.split(line).length - 1, line).toBe(1);
    expect(run.stderr.match(/last words:/g)).toEqual(['last words:']);
    expect(run.stderr).toMatch(/Error: ends is added, but not Connected: .* ended with exit code 3: it failed\.\n/);
    expect(run.stderr).toContain('svc server remove ends');
    expect(run.stderr).toContain('Change its command: svc server update ends -- COMMAND.');
    expect(run.stdout).toBe('');
  });

  test('has its last output shown once by svc server show', async () => {
    const { stdout } = await svc('server', 'show', 'ends');
    for (const line of words) expect(stdout.split(`  ${line}\n`).length - 1, line).toBe(1);
    expect(stdout.match(/last words:/g)).toEqual(['last words:']);
  });

  test.each([['server list'], ['status']])('is a row of svc %s, with its reason below the table', async (typed) => {
    const { stdout } = await svc(...typed.split(' '));
    const [row = '', ...others] = stdout.split('\n').filter((line) => line.startsWith('ends'));
    expect(row).toMatch(/^ends +.*Error +down/);
    expect(row).not.toContain('exit code');
    expect(others).toEqual([
      expect.stringMatching(/^ends: .* ended with exit code 3: it failed\. Read its last words/),
    ]);
  });

  test('has them complete beside its reason for scripts', async () => {
    const { stdout } = await svc('server', 'show', 'ends', '--json');
    const { reason, stderr }: { reason: { message: string }; stderr: string[] } = JSON.parse(stdout);
    expect(reason.message).toMatch(/exit code 3: it failed\.$/);
    expect(stderr).toEqual(words);
  });

  test('has what it wrote in the logs, alone with --server', async () => {
    const { stdout } = await svc('logs', 'runtime', '--server', 'ends');
    const lines = stdout.trim().split('\n');
    for (const line of words) expect(lines).toContainEqual(expect.stringMatching(`runtime +info +ends: ${line}$`));
    expect(lines.filter((line) => !line.includes(' ends: '))).toEqual([]);
    const none = await svc('logs', '--server', 'other');
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No lines match.\n' });
  });
});

test('the wait for a silent MCP server is shown, and the MCP server stays when the wait is interrupted', async () => {
  const silent = ['server', 'add', 'slow', '--', process.execPath, '-e', 'setInterval(() => {}, 1000)'];
  const run = await runSvc(silent, { cwd: dir(), interruptAt: '· 5 s: ' });
  expect(run.code).toBe(130);
  expect(run.stderr).toContain('Interrupted. slow stays added');
  expect(run.stderr).toContain('svc server remove slow');
  expect(run.stdout).toBe('');
  expect((await svc('server', 'list')).stdout).toContain('slow');
});

test("svc status shows the agents' address while the platform runs", async () => {
  const { stdout } = await svc('status');
  expect(stdout).toMatch(/^ {2}mcp +http:\/\/\S+\/mcp +agents connect here$/m);
});

test('a command keeps its arguments unchanged, also repeated ones', async () => {
  const args = ['-e', 'process.exitCode = 3', '-v', 'a:a', '-v', 'b:b', 'twice', process.execPath];
  await svc('server', 'add', 'twice', '--', process.execPath, ...args);
  const { stdout } = await svc('server', 'show', 'twice', '--json');
  expect(JSON.parse(stdout).launch).toMatchObject({ command: process.execPath, args });
});

test('a skill without tools is not called available, and a piped key does not appear in the hint', async () => {
  await svc('skill', 'create', 'empty');
  const { stdout } = await svc('skill', 'list');
  expect(stdout).toMatch(/^empty +without tools +0 +none \(draft\)$/m);
  expect(stdout).toMatch(/^empty: .*svc skill update empty --add-tool/m);
  const { skills }: { skills: object[] } = JSON.parse((await svc('skill', 'list', '--json')).stdout);
  expect(skills).toContainEqual(expect.objectContaining({ name: 'empty', state: 'without_tools', tools: 0 }));
  const created = await svc('keys', 'create', '--name', 'piped');
  expect(created.stdout).toMatch(/^SVA_/);
  expect(created.stderr).not.toContain('SVA_');
});
