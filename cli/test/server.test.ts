import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectToBackend, openBackendClient } from '../../stack/client/backend-client.ts';
import { createMcpServerMutation } from '../../stack/client/generated/operations.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { memberToken } from '../../stack/test/adversary/member-token.ts';
import { type Answer, hasTerminal, runAtTerminal } from './run-at-terminal.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const { dir, svc } = withRunningPlatform();
const secret = 'a-value-that-nobody-sees';

/** An MCP server that says on standard error how it was started: LOG backwards, because the runtime hides values. */
const program = `
  const { TOKEN = '', LOG = '' } = process.env;
  const log = [...LOG].reverse().join('');
  console.error('started', process.cwd(), 'GOL=' + log, 'TOKEN has ' + TOKEN.length, process.argv.slice(2).join());
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      : { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });`;

const file = () => join(dir(), 'program.cjs');
const command = (...args: string[]) => ['--', process.execPath, file(), ...args];
const atTerminal = (words: readonly string[], ...answers: readonly Answer[]) =>
  runAtTerminal(words, { cwd: dir(), env: {}, answers });
const svcWith = (env: Record<string, string>, ...args: string[]) => runSvc(args, { cwd: dir(), env });
const lastStart = async (name: string): Promise<string> => {
  const { stdout } = await svc('server', 'logs', name, '--json');
  const { lines }: { lines: string[] } = JSON.parse(stdout);
  return lines.findLast((line) => line.startsWith('started')) ?? '';
};
const shown = async (name: string) => JSON.parse((await svc('server', 'show', name, '--json')).stdout);

beforeAll(() => {
  writeFileSync(file(), program);
  mkdirSync(join(dir(), 'work'));
});

describe('svc server add', () => {
  test('takes plain variables, and secret ones from its environment', async () => {
    const words = ['server', 'add', 'one', '--env', 'LOG=debug', '-e', 'TOKEN', '--cwd', 'work', ...command()];
    const run = await svcWith({ TOKEN: secret }, ...words);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Connected\n\nTOOLS \(1\)\necho/) });
    const { stdout } = await svc('server', 'show', 'one');
    expect(stdout).toMatch(/^started as +LOG=debug TOKEN=\[secret\] /m);
    expect(stdout).toContain(`folder      ${join(dir(), 'work')}\n`);
    expect((await shown('one')).launch.env).toEqual([
      { name: 'LOG', value: 'debug' },
      { name: 'TOKEN', value: null },
    ]);
    expect(await lastStart('one')).toContain(`${join(dir(), 'work')} GOL=gubed TOKEN has ${secret.length}`);
    expect(run.stdout + run.stderr + stdout).not.toContain(secret);
  });

  test.each([
    [['--env', 'TOKEN', ...['--', 'x']], 'The variable TOKEN has no value.', /Set TOKEN in the env.*--variable-file/],
    [['--url', 'http://x/', '-H', 'X-Api-Key'], 'The header X-Api-Key has no value.', /Set X_API_KEY .*--header-file/],
    [
      ['--env', 'MY_KEY=abc', '--', 'x'],
      'The value of "MY_KEY" looks like',
      /server add two --json --env MY_KEY -- x\n/,
    ],
    [['-H', 'Authorization: Bearer abc', '--url', 'http://x/'], '"Authorization" looks', /-H Authorization --url/],
    [['--url', 'http://x/', '--header', 'Cookie: a'], '"Cookie" looks like a secret', /--header Cookie\n/],
    [['--env', 'A B=1', '--', 'x'], '--env takes NAME=VALUE', /"A B" is not a valid name/],
    [['--header', 'X: y', '--', 'x'], '--header and --header-file are for --url', /^$/],
    [['--env', 'A=1', '--url', 'http://x/'], '--env, --variable-file and --cwd are for a command', /^$/],
    [['--require', 'A=b', '--', 'x'], '--require takes the name of a variable', /"A=b" is not .* flag: --env NAME/],
    [['--require', 'a b', '--url', 'http://x/'], '--require takes the name of a header', /flag: --header NAME/],
    [['--from', 'file'], 'The catalogue has no "file". Did you mean "files"?', /^$/],
    [['--from', 'x'], 'The catalogue has no "x". Known here: everything, fetch, files, git,', /^$/],
    [['--from', 'files', '--', 'x'], 'Give either --from or a command after --, not both.', /^$/],
    [['--from', 'files'], '"files" needs a value of "folder"', /full path.*--from files --fill folder=VALUE$/],
    [['--from', 'files', '--fill', 'place=x'], '"files" has no blank "place"', /^It has: folder\.$/],
    [['--from', 'files', '--fill', 'folder'], '--fill takes NAME=VALUE, such as folder=VALUE', /^$/],
    [['--from', 'files', '-H', 'X-Team: a'], '--header and --header-file are for --url', /^$/],
    [['--from', 'github', '-e', 'A=1'], '--env, --variable-file and --cwd are for a command', /^$/],
    [['--fill', 'folder=x', '--', 'x'], '--fill is only for --from', /^Usage/],
    [['--transport', 'http', '--', 'x'], '--transport is only for --url', /^$/],
    [['--transport', 'carrier-pigeon', '--url', 'http://x/'], '--transport must be http or sse', /after --/],
  ])('refuses %j', async (words, message, hint) => {
    const run = await svc('server', 'add', 'two', '--json', ...words);
    const { error } = JSON.parse(run.stdout);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(message) });
    expect(error.hint ?? '').toMatch(hint);
    expect([run.code, run.stderr]).toEqual([2, '']);
  });

  test('reads a plain and a secret header', async () => {
    const words = ['server', 'add', 'web', '--transport', 'http', '--url', 'http://127.0.0.1:9/mcp'];
    const run = await svcWith({ X_API_KEY: secret }, ...words, '-H', 'X-Team: blue', '-H', 'X-Api-Key');
    expect(run.code).toBe(1);
    const { stdout } = await svc('server', 'show', 'web');
    expect(stdout).toContain('(header x-api-key: [secret]) (header x-team: blue)');
    expect(stdout).not.toContain(secret);
  });

  test('declares a required setting, which a person gives later', async () => {
    const added = await svc(
      'server',
      'add',
      'needy',
      '--require',
      'TOKEN',
      '--env',
      'LOG=a',
      '--require',
      'LOG',
      ...command(),
    );
    expect(added).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('required setting env.TOKEN has no value'),
    });
    const { stdout } = await svc('server', 'show', 'needy');
    expect(stdout).toMatch(/^settings +TOKEN \(required, missing\), LOG \(required, set\)$/m);
    const filled = await svcWith({ TOKEN: secret }, 'server', 'update', 'needy', '--env', 'TOKEN');
    expect(filled.stdout).toMatch(/^Changed MCP server needy: env\.TOKEN\.\nConnected\n/);
    const { launch } = await shown('needy');
    const declared = { title: '', description: '', required: true, isSet: true };
    expect(launch.settings).toEqual([
      { ...declared, name: 'TOKEN', secret: true },
      { ...declared, name: 'LOG', secret: false },
    ]);
    expect(launch.env).toEqual([
      { name: 'LOG', value: 'a' },
      { name: 'TOKEN', value: null },
    ]);
  });

  test('takes a well-known one with its usual name, and its settings are declared', async () => {
    const words = ['server', 'add', '--from', 'github', '--require', 'X-Team', '--workspace', 'Default', '--json'];
    const added = await svc(...words);
    expect(JSON.parse(added.stdout)).toMatchObject({ name: 'github', reason: { code: 'missing_settings' } });
    const { launch } = await shown('github');
    expect(launch).toMatchObject({ url: 'https://api.githubcopilot.com/mcp/', headers: [] });
    expect(launch.settings).toEqual([
      expect.objectContaining({ name: 'authorization', title: 'Access', secret: true, required: true, isSet: false }),
      expect.objectContaining({ name: 'x-team', required: true, isSet: false }),
    ]);
  });

  test('says where an MCP server without tools may say why', async () => {
    const toolless = program.replace("{ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }", '{ tools: [] }');
    writeFileSync(join(dir(), 'toolless.cjs'), toolless);
    const run = await svc('server', 'add', 'toolless', '--', process.execPath, join(dir(), 'toolless.cjs'));
    expect(run).toMatchObject({ code: 0, stdout: 'Connected\n\nIt offers no tools.\n' });
    expect(run.stderr).toContain('Read what it wrote: svc server logs toolless.');
    expect(run.stderr).toContain('svc server update toolless --env NAME');
    expect(run.stderr).not.toContain('skill create');
  });

  test('names the command that changes the holder of a taken name', async () => {
    const run = await svc('server', 'add', 'one', ...command());
    expect(run).toMatchObject({ code: 5, stderr: expect.stringContaining('change that one: svc server update NAME') });
  });
});

describe('svc server update', () => {
  test('changes what is named, and keeps the rest', async () => {
    const changed = await svc('server', 'update', 'one', '--env', 'LOG=info');
    expect(changed.stdout).toMatch(/^Changed MCP server one: env\.LOG\.\nConnected\n/);
    expect(await lastStart('one')).toContain(`GOL=ofni TOKEN has ${secret.length}`);
    const other = await svc('server', 'update', 'one', '--cwd', '', '--json', ...command('first', 'second'));
    expect(JSON.parse(other.stdout)).toMatchObject({ name: 'one', changed: ['args', 'cwd'], status: 'Connected' });
    expect(await lastStart('one')).toMatch(`GOL=ofni TOKEN has ${secret.length} first,second`);
  });

  test('replaces and removes settings', async () => {
    const rotated = await svcWith(
      { TOKEN: 'shorter' },
      'server',
      'update',
      'one',
      '--env',
      'TOKEN',
      '--unset-env',
      'LOG',
    );
    expect(rotated.stdout).toMatch(/^Changed MCP server one: env\.LOG, env\.TOKEN\./);
    expect(await lastStart('one')).toContain('GOL= TOKEN has 7 first,second');
    const same = await svcWith({ TOKEN: 'shorter' }, 'server', 'update', 'one', '--env', 'TOKEN', '--json');
    expect(JSON.parse(same.stdout)).toMatchObject({ changed: [], tools: [{ originalName: 'echo' }] });
    const header = await svc(
      'server',
      'update',
      'web',
      '--unset-header',
      'X-TEAM',
      '--url',
      'http://127.0.0.1:9/other',
    );
    expect(header.stdout).toMatch(/^Changed MCP server web: url, headers\.x-team\.\n$/);
    expect(header.stderr).toContain('web is changed, but not Connected');
    expect(header.code).toBe(1);
  });

  test('declares a required setting, and declares it no longer', async () => {
    const update = (...words: string[]) => svc('server', 'update', 'needy', ...words);
    const removed = await update('--unset-require', 'TOKEN', '--unset-env', 'TOKEN');
    expect(removed.stdout).toMatch(/^Changed MCP server needy: settings, env\.TOKEN\.\nConnected\n/);
    const missing = await update('--require', 'TOKEN');
    expect(missing).toMatchObject({ code: 1, stdout: 'Changed MCP server needy: settings.\n' });
    expect(missing.stderr).toContain('needy is changed, but not Connected');
    expect((await update('--require', 'TOKEN')).stdout).toBe('Nothing to change: needy is like that already.\n');
    const unknown = await update('--unset-require', 'OTHER');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('It has: LOG, TOKEN.') });
  });

  test('changes deadlines without a restart', async () => {
    const before = (await shown('one')).lastStartedAt;
    const changed = await svc('server', 'update', 'one', '--start-timeout', '90', '--call-timeout=300');
    expect(changed).toMatchObject({ code: 0, stdout: 'Changed MCP server one: startTimeout, callTimeout.\n' });
    expect(await shown('one')).toMatchObject({ startTimeout: 90, callTimeout: 300, lastStartedAt: before });
    const back = await svc('server', 'update', 'one', '--start-timeout', '0', '--call-timeout', '300');
    expect(back.stdout).toBe('Changed MCP server one: startTimeout.\n');
    expect(await shown('one')).toMatchObject({ startTimeout: null, callTimeout: 300 });
    const refused = await svc('server', 'update', 'one', '--call-timeout', '1801');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('a whole number from 0 to 1800') });
  });

  test('renames, and says so when there is nothing to change', async () => {
    const renamed = await svc('server', 'update', 'one', '--name', 'uno');
    expect(renamed).toMatchObject({ code: 0, stdout: 'Changed MCP server uno: name.\n' });
    const same = await svc('server', 'update', 'uno', '--name', 'uno');
    expect(same).toMatchObject({ code: 0, stdout: 'Nothing to change: uno is like that already.\n' });
    await svc('server', 'update', 'uno', '--name', 'one');
  });

  test.each([
    [[], 'No change was given.', /--env.*--unset-header.*--name, or a command after --/],
    [['--unset-env', 'NO'], 'There is no variable "NO" to remove.', /It has: TOKEN/],
    [['--header', 'X: y'], '--header and --unset-header are for a URL, and one has a command.', /svc server show one/],
    [['--url', 'http://x/', '--', 'x'], 'Give either --url or a command after --, not both.', /^$/],
    [['--url', 'http://x/', '--cwd', '/'], '--cwd is for a command', /svc server show one/],
    [['--'], 'The command after -- is missing.', /^$/],
    [['http://x.example/mcp'], 'The URL of an MCP server stands after --url', /server update one --json --url http:/],
  ])('refuses %j', async (words, message, hint) => {
    const run = await svc('server', 'update', 'one', '--json', ...words);
    const { error } = JSON.parse(run.stdout);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(message) });
    expect(error.hint ?? '').toMatch(hint);
    expect(run.code).toBe(2);
  });

  test('asks before the command of a member becomes the operator’s', async () => {
    await addAsMember('theirs');
    const words = ['server', 'update', 'theirs', '--workspace', 'Theirs', '--env', 'LOG=1'];
    const refused = await svc(...words);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('add --yes') });
    expect(refused.stderr).toContain('TOKEN=[secret]');
    expect((await svc('server', 'show', 'theirs', '--workspace', 'Theirs')).stdout).toMatch(/^set by +member$/m);
    const agreed = await svc(...words, '--yes');
    expect(agreed.stdout).toMatch(/^Changed MCP server theirs: env\.LOG, setBy\.\n/);
  });
});

/** Adds an MCP server as the owner of a new workspace, who is no operator. */
async function addAsMember(name: string): Promise<void> {
  const installation = installationIn(dir());
  const backend = await connectToBackend(installation);
  const text = 'mutation { createWorkspace(input: { name: "Theirs", ownerEmail: "member@example.com" }) { id } }';
  const made = z.object({ createWorkspace: z.object({ id: z.string() }) });
  const { id } = made.parse(await backend.send({ text }, {})).createWorkspace;
  const { urls } = JSON.parse((await svc('status', '--json')).stdout);
  const token = await memberToken(installation, urls.api, 'member@example.com');
  const launch = { command: process.execPath, args: [file()], env: [{ name: 'TOKEN', value: secret }] };
  const member = openBackendClient([urls.api], () => token);
  await member.send(createMcpServerMutation, { workspace: id, input: { name, launch } });
}

describe('svc server restart, disable, enable and test', () => {
  test('restart waits for the new start', async () => {
    const before = (await shown('one')).lastStartedAt;
    const run = await svc('server', 'restart', 'one');
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Connected/) });
    expect((await shown('one')).lastStartedAt).not.toBe(before);
  });

  test('a disabled MCP server is stopped, and starts again when it is enabled', async () => {
    const disabled = await svc('server', 'disable', 'one', '--json');
    expect(JSON.parse(disabled.stdout)).toMatchObject({ name: 'one', changed: ['enabled'], stopped: true });
    expect((await svc('server', 'disable', 'one')).stdout).toBe('Nothing to change: one is disabled.\n');
    const tested = await svc('server', 'test', 'one');
    expect(tested).toMatchObject({
      code: 1,
      stdout: '✗ one is Disconnected: It is disabled.\nEnable it: svc server enable one\n',
    });
    const restarted = await svc('server', 'restart', 'one');
    expect(restarted).toMatchObject({ code: 5, stderr: expect.stringContaining('svc server enable one') });
    const enabled = await svc('server', 'enable', 'one', '--json');
    expect(JSON.parse(enabled.stdout)).toMatchObject({ changed: ['enabled'], status: 'Connected' });
    expect(JSON.parse((await svc('server', 'enable', 'one', '--json')).stdout)).toMatchObject({ changed: [] });
  });

  test('test says whether it is Connected, and why not', async () => {
    const good = await svc('server', 'test', 'one');
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✓ one is Connected: healthy, 1 tool, /) });
    const bad = await svc('server', 'test', 'web', '--json');
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ ok: false, status: 'Error', reason: { code: expect.any(String) } });
  });

  test('logs shows the last lines, and follows them', async () => {
    expect((await svc('server', 'logs', 'one')).stdout).toMatch(/^started .* TOKEN has 7 first,second$/m);
    const words = ['server', 'logs', 'one', '-f', '--json'];
    const followed = await runSvc(words, { cwd: dir(), interruptAt: 'TOKEN has 7' });
    expect(JSON.parse(followed.stdout.split('\n')[0] ?? '')).toEqual({ line: expect.stringContaining('started') });
  });
});

describe('svc server remove', () => {
  test('names the skills that lose tools, and needs a yes', async () => {
    await svc('skill', 'create', 'talk', '--tool', 'one/echo');
    const refused = await svc('server', 'remove', 'one');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('- The skill "talk" loses its tools.\n');
    expect(refused.stderr).toContain('add --yes');
    const removed = await svc('server', 'remove', 'one', '--yes', '--json');
    expect(JSON.parse(removed.stdout)).toMatchObject({
      name: 'one',
      removed: true,
      affected: [{ kind: 'skill', name: 'talk' }],
    });
    const { stdout } = await svc('skill', 'list', '--json');
    expect(JSON.parse(stdout).skills).toMatchObject([{ name: 'talk', tools: 0 }]);
  });

  test('asks nothing where no skill uses it', async () => {
    expect(await svc('server', 'remove', 'web')).toMatchObject({ code: 0, stdout: 'Removed MCP server web.\n' });
  });
});

describe('--share', () => {
  const skills = async () => JSON.parse((await svc('skill', 'list', '--json')).stdout).skills;

  test('makes a skill that follows its tools, and puts it into the role for everyone', async () => {
    const { code, stdout } = await svc('server', 'add', 'For_All', '--share', '--json', ...command());
    expect([code, JSON.parse(stdout).shared]).toEqual([0, { skill: 'for-all', role: 'Everyone' }]);
    const again = await svc('server', 'add', 'second', '--share', ...command());
    expect(again.stderr).toMatch(
      /by the skill second in the role Everyone\.\nNext, a key for an agent: svc keys create NAME\n$/,
    );
    const role = JSON.parse((await svc('role', 'show', 'Everyone', '--json')).stdout);
    expect(role.skills.map(({ name }: { name: string }) => name).sort()).toEqual(['for-all', 'second']);
    const skill = JSON.parse((await svc('skill', 'show', 'for-all', '--json')).stdout);
    expect(skill.patterns).toEqual(['For_All/*']);
  });

  test('is not done without the flag, nor for an MCP server that does not start', async () => {
    await svc('server', 'add', 'private', ...command());
    expect((await svc('server', 'add', 'broken', '--share', '--', 'svc-test-nothing')).code).toBe(1);
    const names = (await skills()).map(({ name }: { name: string }) => name);
    expect(names).not.toContain('private');
    expect(names).not.toContain('broken');
  });
});

describe.skipIf(!hasTerminal)('at a terminal', () => {
  test('a secret is asked for, and is not shown', async () => {
    const run = await atTerminal(
      ['server', 'add', 'asked', '--env', 'TOKEN', ...command()],
      { at: 'Value of the variable TOKEN', type: `${secret}\r` },
      { at: 'Let agents use all its tools?', type: '\r' },
    );
    expect(run.seen).toContain('svc skill create NAME --tool asked/TOOL');
    expect(run.seen).toContain('Connected');
    expect(run.code).toBe(0);
    expect(run.seen).not.toContain(secret);
    expect(await lastStart('asked')).toContain(`TOKEN has ${secret.length}`);
  });

  test('what a well-known one needs is asked for, and a secret may follow later', async () => {
    const empty = await atTerminal(['server', 'add', '--from', 'files'], { at: 'Folder (Its full path', type: '\r' });
    expect(empty).toMatchObject({ code: 2, seen: expect.stringContaining('needs a value of "folder"') });
    const access = { at: 'Access: The word Bearer', type: '\r' };
    const later = await atTerminal(['server', 'add', 'gh', '--from', 'github'], access);
    expect(later.seen).toMatch(/required setting\s+headers\.authorization has no value\./);
  });

  const share = 'Let agents use all its tools?';
  const key = 'Create an API key for an agent now?';
  const add = (name: string, ...answers: readonly Answer[]) =>
    atTerminal(['server', 'add', name, ...command()], ...answers);
  const keys = async (): Promise<{ name: string }[]> => JSON.parse((await svc('keys', 'list', '--json')).stdout).keys;

  test('sharing and a key are offered once it is Connected, and the default is no', async () => {
    const run = await add('offered', { at: share, type: 'y\r' }, { at: key, type: '\r' });
    expect(run.seen).toContain('Agents may use its tools by the skill offered in the role Everyone.');
    expect(run.seen).toContain('Next, a key for an agent: svc keys create NAME');
    expect([run.code, await keys()]).toEqual([0, []]);
  });

  test('a key that is wanted is shown once, with the lines that an agent needs', async () => {
    const choose = { at: 'Which agent do you connect?', type: '\r' };
    const run = await add('wanted', { at: share, type: 'y\r' }, { at: key, type: 'y\r' }, choose);
    const found = [...run.seen.matchAll(/SVA_\w{20,}/g)];
    expect([run.code, found.length]).toEqual([0, 1]);
    expect(run.seen).toContain('This key is shown only once.');
    expect(run.seen).toContain(`${JSON.parse((await svc('status', '--json')).stdout).urls.mcp}`);
    expect(run.seen).toContain('svc connect --client claude-code --write');
    expect(await keys()).toMatchObject([{ name: expect.stringMatching(/^claude-code \d{4}-/) }]);
    const tested = await runSvc(['keys', 'test'], { cwd: dir(), env: { SVC_API_KEY: found[0]?.[0] ?? '' } });
    expect(tested.code).toBe(0);
  });

  test('Ctrl-C at a question leaves the MCP server, and says so', async () => {
    const interrupt = '\u0003';
    const first = await add('kept', { at: share, type: interrupt });
    expect([first.code, first.seen]).toEqual([130, expect.stringContaining('The MCP server kept stays added.')]);
    const second = await add('kept-too', { at: share, type: 'y\r' }, { at: key, type: interrupt });
    expect([second.code, second.seen]).toEqual([130, expect.stringContaining('kept-too stays added and shared.')]);
    const list = JSON.parse((await svc('server', 'list', '--json')).stdout).mcpServers;
    const names = list.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['kept', 'kept-too']));
  });

  test('a removal asks, and the default is no', async () => {
    await svc('skill', 'create', 'asks', '--tool', 'asked/echo');
    const question = 'Remove the MCP server "asked"?';
    const words = ['server', 'remove', 'asked'];
    const no = await atTerminal(words, { at: question, type: '\r' });
    expect(no.seen).toContain('Nothing was removed.');
    expect(no.code).not.toBe(0);
    const yes = await atTerminal(words, { at: question, type: 'y\r' });
    expect(yes.seen).toContain('Removed MCP server asked.');
    expect(yes.code).toBe(0);
  });
});
